import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AxError } from '../../../../src/domain/errors.js';
import { total } from '../../../support/measured.js';
import { RunScene } from '../../../support/run-scene.js';
import { succeeded } from '../../../support/scripted-executor.js';
import { type WorkerNode } from '../../../support/worker-node.js';

const TTL_MS = 15_000;
const MINUTE = 60_000;

describe('A worker whose queue is away', () => {
  let scene: RunScene;
  beforeEach(async () => {
    scene = await RunScene.open();
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);
  const start = (name: string) => scene.harness.worker(name).start();
  const messages = ({ logger }: WorkerNode) => logger.lines.map(([, , message]) => message);

  it('keeps the result until it is back, however long its claims live', async () => {
    scene.executor.script = scene.executor.lasting(5000);
    await scene.publish();
    const worker = start('first');
    await advance(1000);
    worker.redis.state = 'cut';
    await advance(10 * MINUTE);
    expect(messages(worker)).toContain('the queue does not answer, the result waits here');
    expect(worker.readiness.report().isReady).toBe(false);
    worker.redis.state = 'passing';
    await advance(6000);
    expect(await scene.endings()).toEqual(['success']);
    expect((await scene.ended())[0]).toMatchObject({ generation: 1 });
    expect(scene.executor.calls).toHaveLength(1);
    expect(worker.readiness.report().isReady).toBe(true);
  });

  it('is not called slow for the time that its result waits', async () => {
    const worker = start('first');
    worker.redis.before = (method) => {
      if (method === 'finish') throw new AxError('unavailable', 'the queue is away');
    };
    await scene.publish({ slowAfterSec: 60 });
    await advance(2 * MINUTE);
    worker.redis.before = () => undefined;
    await advance(6000);
    expect(await scene.told()).toEqual(['claimed running', 'finished success']);
  });

  it('delivers one result when only the answer was lost', async () => {
    const worker = start('first');
    worker.redis.before = (method) => {
      if (method === 'finish') worker.redis.state = 'mute';
    };
    await scene.publish();
    await advance(100);
    worker.redis.before = () => undefined;
    worker.redis.state = 'passing';
    await advance(6000);
    expect(await scene.endings()).toEqual(['success']);
    expect(total(worker.metrics, 'executions_total')).toBe(1);
  });

  it.each([true, false])(
    'goes on with what runs, and renews its claims when it is back (idempotent: %s)',
    async (isIdempotent) => {
      scene.executor.script = scene.executor.lasting(3 * MINUTE);
      await scene.publish({ isIdempotent });
      const worker = start('first');
      await advance(1000);
      worker.redis.state = 'cut';
      await advance(MINUTE);
      worker.redis.state = 'passing';
      await advance(2 * MINUTE);
      expect(await scene.endings()).toEqual(['success']);
      expect(scene.executor.calls).toHaveLength(1);
      expect(total(worker.metrics, 'claims_lost_total')).toBe(0);
    },
  );

  it.each([true, false])(
    'keeps its runs also from other workers that come back with it (idempotent: %s)',
    async (isIdempotent) => {
      scene.executor.script = scene.executor.lasting(3 * MINUTE);
      const first = start('first');
      await scene.publish({ isIdempotent });
      await advance(1000);
      const second = start('second');
      await advance(500);
      first.redis.state = second.redis.state = 'cut';
      await advance(MINUTE);
      second.redis.state = 'passing';
      await advance(700);
      first.redis.state = 'passing';
      await advance(2 * MINUTE);
      expect((await scene.ended()).map(({ worker, status }) => [worker, status])).toEqual([
        ['first', 'success'],
      ]);
      expect(scene.executor.calls).toHaveLength(1);
    },
  );

  it.each([true, false])(
    'does not take its own runs over when only renewals fail for longer than a claim lives (idempotent: %s)',
    async (isIdempotent) => {
      scene.executor.script = scene.executor.lasting(MINUTE);
      await scene.publish({ isIdempotent });
      const worker = start('first');
      worker.redis.before = (method) => {
        if (method === 'renew') throw new AxError('unavailable', 'too slow');
      };
      await advance(2 * TTL_MS);
      worker.redis.before = () => undefined;
      await advance(MINUTE);
      expect(scene.executor.calls).toHaveLength(1);
      expect(await scene.endings()).toEqual(['success']);
      expect((await scene.ended())[0]?.generation).toBe(1);
    },
  );

  it('leaves its runs to others that were not away, and takes over those of the dead again soon afterwards', async () => {
    scene.executor.script = scene.executor.lasting(MINUTE);
    const first = start('first');
    await scene.publish({ isIdempotent: true });
    await advance(1000);
    const second = start('second');
    await advance(500);
    first.redis.state = second.redis.state = 'cut';
    await advance(MINUTE);
    first.crash();
    second.redis.state = 'passing';
    await advance(3 * TTL_MS);
    expect(scene.executor.calls).toHaveLength(2);
    await advance(MINUTE);
    expect((await scene.ended()).map(({ worker, status }) => [worker, status])).toEqual([
      ['second', 'success'],
    ]);
  });

  it('takes over what the dead have begun as soon as ever once that is over', async () => {
    const { executor } = scene;
    executor.script = (request, signal) =>
      executor.lasting(request.taskId === 'short' ? 3000 : MINUTE)(request, signal);
    const second = scene.harness.worker('second', { concurrency: 1 }).start();
    await advance(1000);
    second.redis.state = 'cut';
    await advance(MINUTE);
    second.redis.state = 'passing';
    await advance(TTL_MS + 1000);
    await scene.publish({}, 1, 'short');
    await advance(0);
    const first = start('first');
    await scene.publish({ isIdempotent: true }, 1, 'long');
    await advance(0);
    first.crash();
    await advance(TTL_MS - 1);
    expect(executor.calls.map(({ request }) => request.taskId)).toEqual(['short', 'long']);
    await advance(1001);
    expect(executor.calls.map(({ request }) => request.taskId)).toEqual(['short', 'long', 'long']);
    await advance(MINUTE);
  });

  it('does not begin what it cannot be sure to hold any more', async () => {
    const { claims } = scene.harness.broker;
    await scene.publish();
    const worker = start('first');
    const claim = claims.claim.bind(claims);
    claims.claim = async (...args) => {
      const answer = await claim(...args);
      worker.redis.state = 'cut';
      await scene.harness.clock.sleep(TTL_MS);
      return answer;
    };
    await advance(TTL_MS + MINUTE);
    expect(scene.executor.calls).toEqual([]);
    claims.claim = claim;
    worker.redis.state = 'passing';
    await advance(6000);
    expect(scene.executor.calls).toHaveLength(1);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('and comes back empty, asserts its claims again, and its result counts', async () => {
    scene.executor.script = async () => {
      await scene.harness.clock.sleep(MINUTE);
      return succeeded();
    };
    await scene.publish();
    const worker = start('first');
    await advance(1000);
    scene.harness.loseQueue();
    await advance(2 * MINUTE);
    expect(await scene.endings()).toEqual(['success']);
    expect(total(worker.metrics, 'claims_lost_total')).toBe(0);
  });

  it('goes on although watchers miss a report', async () => {
    scene.executor.script = ({ attempt }) =>
      attempt === 1 ? { ...succeeded(), status: 'fail' } : succeeded();
    const worker = start('first');
    let lost = 0;
    worker.redis.before = (method) => {
      if (method === 'report' && (lost += 1) <= 2) throw new AxError('unavailable', 'the queue is away');
    };
    await scene.publish({ isIdempotent: true, retryCount: 1, retryIntervalSec: 10 });
    await advance(10_000);
    expect(await scene.told()).toEqual(['claimed running', 'attempt_started running', 'finished success']);
    expect(messages(worker)).toContain('report not sent: attempt_failed');
  });
});
