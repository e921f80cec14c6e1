import { beforeEach, describe, expect, it } from 'vitest';
import { InProcessWorkerRegistry } from '../../../../src/adapters/embedded/in-process-worker-registry.js';
import { AnnounceWorker } from '../../../../src/application/worker/announce-worker.js';
import { BASE } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { Link } from '../../../support/link.js';
import { RecordingLogger } from '../../../support/recording.js';

const TTL_MS = 15_000;
const SELF = {
  instance: 'worker-1/1',
  node: 'worker-1',
  pools: ['default', 'batch'],
  executors: ['http', 'shell'],
  concurrency: 8,
  version: '1.2.3',
};

describe('AnnounceWorker', () => {
  let clock: FakeClock;
  let registry: InProcessWorkerRegistry;
  let redis: Link;
  let logger: RecordingLogger;
  let worker: { running: number };
  let announce: AnnounceWorker;
  let stop: AbortController;
  beforeEach(() => {
    clock = new FakeClock(BASE);
    registry = new InProcessWorkerRegistry(clock);
    redis = new Link();
    logger = new RecordingLogger();
    worker = { running: 3 };
    announce = new AnnounceWorker(
      { registry: redis.to(() => registry), clock, logger, worker },
      SELF,
      TTL_MS,
    );
    stop = new AbortController();
  });

  it('says at once who it is, and again before that runs out, with its runs as they are', async () => {
    const running = announce.run(stop.signal);
    const first = { ...SELF, running: 3, isDraining: false, startedAt: BASE, seenAt: BASE };
    await clock.advance(0);
    expect(await registry.list()).toEqual([first]);
    worker.running = 5;
    await clock.advance(TTL_MS * 10);
    const [last] = await registry.list();
    expect(last).toMatchObject({ running: 5, startedAt: BASE });
    expect(BASE + TTL_MS * 10 - (last?.seenAt ?? 0)).toBeLessThanOrEqual(TTL_MS / 3);
    stop.abort();
    await running;
  });

  it('drains in sight of all, and is gone when it has ended', async () => {
    const running = announce.run(stop.signal);
    await clock.advance(1000);
    await announce.drain();
    expect(await registry.list()).toMatchObject([{ isDraining: true, seenAt: BASE + 1000 }]);
    await clock.advance(TTL_MS * 2);
    expect(await registry.list()).toMatchObject([{ isDraining: true }]);
    stop.abort();
    await running;
    expect(await registry.list()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('says nothing of a worker that never ran', async () => {
    await announce.drain();
    expect(await registry.list()).toEqual([]);
  });

  it('is missed while the registry is away, is there again after it, and ends all the same', async () => {
    const running = announce.run(stop.signal);
    await clock.advance(0);
    redis.state = 'cut';
    await clock.advance(TTL_MS);
    expect(await registry.list()).toEqual([]);
    redis.state = 'passing';
    await clock.advance(TTL_MS / 3);
    expect(await registry.list()).toHaveLength(1);
    redis.state = 'cut';
    stop.abort();
    await running;
    expect(logger.lines.map(([level]) => level)).toEqual(Array(4).fill('warn'));
  });
});
