import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../../support/run-scene.js';
import { failed } from '../../../support/scripted-executor.js';
import { type WorkerNode } from '../../../support/worker-node.js';

const MINUTE = 60_000;
const DRAIN_MS = 30_000;
const IDEMPOTENT = { isIdempotent: true };

describe('A worker that drains', () => {
  let scene: RunScene;
  beforeEach(async () => {
    scene = await RunScene.open();
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);
  const start = (name: string, drainMs = DRAIN_MS) => scene.harness.worker(name, { drainMs }).start();
  const calls = () => scene.executor.calls.map(({ request }) => request.attempt);

  /** Told to stop; says whether it has. */
  function stopping(worker: WorkerNode): { isOver: boolean } {
    const state = { isOver: false };
    void worker.stop().then(() => (state.isOver = true));
    return state;
  }

  it('takes nothing new, and lets what runs come to its end', async () => {
    scene.executor.script = scene.executor.lasting(20_000);
    await scene.publish();
    const worker = start('first');
    await advance(1000);
    const stop = stopping(worker);
    await scene.publish({}, 3, 'later');
    await advance(18_000);
    expect(stop.isOver).toBe(false);
    expect(calls()).toEqual([1]);
    await advance(1000);
    expect(stop.isOver).toBe(true);
    expect(await scene.endings()).toEqual(['success']);
    expect(await scene.harness.broker.queue.depth()).toBe(3);
  });

  it('ends at once when nothing runs', async () => {
    const worker = start('first');
    await advance(300);
    const stop = stopping(worker);
    await advance(0);
    expect(stop.isOver).toBe(true);
    expect(scene.harness.clock.pendingTimers).toBe(0);
  });

  it('keeps its heartbeat until the last run has ended', async () => {
    scene.executor.script = scene.executor.lasting(MINUTE);
    await scene.publish(IDEMPOTENT);
    const first = start('first', 90_000);
    await advance(10_000);
    const stop = stopping(first);
    start('second');
    await advance(49_000);
    expect(stop.isOver).toBe(false);
    expect(first.redis.calls.filter((call) => call === 'renew').length).toBeGreaterThanOrEqual(11);
    await advance(1000);
    expect(stop.isOver).toBe(true);
    expect(calls()).toEqual([1]);
    expect((await scene.ended()).map(({ worker, status }) => [worker, status])).toEqual([
      ['first', 'success'],
    ]);
  });

  it('hands idempotent work back after its time, and another worker finishes it at once', async () => {
    scene.executor.script = scene.executor.lasting(MINUTE);
    await scene.publish(IDEMPOTENT);
    const first = start('first');
    await advance(1000);
    const stop = stopping(first);
    await advance(DRAIN_MS - 1);
    expect(stop.isOver).toBe(false);
    start('second');
    await advance(1);
    expect(stop.isOver).toBe(true);
    expect(scene.executor.calls[0]?.outcome).toMatchObject({ status: 'fail', reason: 'drained' });
    expect(calls()).toEqual([1, 2]);
    await advance(MINUTE);
    const back = (await scene.reports()).find(({ entry }) => entry.kind === 'handed_back');
    expect(back).toMatchObject({ status: 'pending', reason: 'drained', worker: 'first', attempt: 1 });
    expect((await scene.ended()).map(({ worker, status }) => [worker, status])).toEqual([
      ['second', 'success'],
    ]);
  });

  it('hands back what waits for a retry, which then does not fail for that', async () => {
    scene.executor.script = ({ attempt }, signal) =>
      attempt === 1 ? failed() : scene.executor.lasting(0)(scene.executor.calls[0]!.request, signal);
    await scene.publish({ ...IDEMPOTENT, retryCount: 1, retryIntervalSec: 600 });
    const first = start('first', 0);
    await advance(1000);
    const stop = stopping(first);
    await advance(0);
    expect(stop.isOver).toBe(true);
    start('second');
    await advance(600_000);
    expect(calls()).toEqual([1, 2]);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('ends what it began of a task that is not idempotent as drained', async () => {
    scene.executor.script = scene.executor.lasting(MINUTE);
    await scene.publish();
    const first = start('first');
    await advance(1000);
    const stop = stopping(first);
    start('second');
    await advance(DRAIN_MS);
    expect(stop.isOver).toBe(true);
    await advance(MINUTE);
    expect(calls()).toEqual([1]);
    expect(await scene.endings()).toEqual(['fail drained']);
  });

  it.each([
    ['success', true],
    ['success', false],
    ['timeout', true],
    ['timeout', false],
  ] as const)(
    'lets a %s at the last moment count as it is (idempotent: %s)',
    async (status, isIdempotent) => {
      const outcome = { status, reason: null, message: null, evidence: {} };
      scene.executor.script = async (_, signal) => {
        await scene.harness.clock.sleep(MINUTE, signal);
        return outcome;
      };
      await scene.publish({ isIdempotent });
      const first = start('first');
      await advance(1000);
      const stop = stopping(first);
      await advance(DRAIN_MS);
      expect(stop.isOver).toBe(true);
      expect(await scene.endings()).toEqual([status]);
    },
  );

  it('gives back what it was just being given', async () => {
    const { queue } = scene.harness.broker;
    const take = queue.take.bind(queue);
    const worker = scene.harness.worker('first');
    queue.take = async (request) => {
      queue.take = take;
      const deliveries = await take(request);
      void worker.stop();
      return deliveries;
    };
    await scene.publish({}, 5);
    worker.start();
    await advance(0);
    expect(calls()).toEqual([]);
    start('second');
    await advance(0);
    expect(await scene.endings()).toHaveLength(5);
  });

  describe('with a run that it has claimed and not begun, of a task that is not idempotent', () => {
    /** A worker that is told to stop while it claims, and has no time to drain. */
    async function stopsWhileClaiming(name: string): Promise<void> {
      const worker = scene.harness.worker(name, { drainMs: 0 });
      let stop = { isOver: false };
      worker.redis.before = (method) => {
        if (method === 'claim') stop = stopping(worker);
      };
      const { claims } = scene.harness.broker;
      const claim = claims.claim.bind(claims);
      claims.claim = async (...args) => {
        const answer = await claim(...args);
        await scene.harness.clock.sleep(10);
        return answer;
      };
      worker.start();
      await advance(10);
      claims.claim = claim;
      expect(stop.isOver).toBe(true);
    }

    it('hands it back, however often, and it runs elsewhere', async () => {
      await scene.publish();
      await stopsWhileClaiming('first');
      await stopsWhileClaiming('second');
      expect(calls()).toEqual([]);
      expect(await scene.endings()).toEqual([]);
      start('third');
      await advance(0);
      expect(calls()).toEqual([1]);
      expect(await scene.endings()).toEqual(['success']);
    });

    it('hands it back also when it was just making sure of its claim', async () => {
      await scene.publish();
      const { claims } = scene.harness.broker;
      const claim = claims.claim.bind(claims);
      const first = scene.harness.worker('first', { drainMs: 0, concurrency: 1 }).start();
      claims.claim = async (...args) => {
        const answer = await claim(...args);
        await scene.harness.clock.sleep(20_000);
        return answer;
      };
      first.redis.before = async (method) => {
        if (method !== 'renew') return;
        void first.stop();
        await scene.harness.clock.sleep(10);
      };
      await advance(20_010);
      claims.claim = claim;
      expect(calls()).toEqual([]);
      start('second');
      await advance(0);
      expect(await scene.endings()).toEqual(['success']);
    });
  });
});
