import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AxError } from '../../../../src/domain/errors.js';
import { total, valuesOf } from '../../../support/measured.js';
import { RunScene } from '../../../support/run-scene.js';

const MINUTE = 60_000;

describe('WorkerLoop', () => {
  let scene: RunScene;
  beforeEach(async () => {
    scene = await RunScene.open();
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);
  const start = (concurrency = 100) => scene.harness.worker('worker', { concurrency }).start();

  it('runs what comes as soon as it comes', async () => {
    start();
    await advance(12_345);
    await scene.publish();
    await advance(0);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('runs at most as many at a time as it may, and the next as soon as one has ended', async () => {
    scene.executor.script = scene.executor.lasting(1000);
    await scene.publish({ maxConcurrent: 100 }, 10);
    const worker = start(4);
    await advance(0);
    expect(scene.executor.running).toBe(4);
    expect(valuesOf(worker.metrics, 'running_executions').at(-1)).toBe(4);
    await advance(3000);
    expect(scene.executor.peak).toBe(4);
    expect(await scene.endings()).toHaveLength(10);
    expect(scene.executor.calls.at(-1)?.startedAt).toBe(scene.harness.clock.now() - 1000);
    expect(valuesOf(worker.metrics, 'running_executions').at(-1)).toBe(0);
  });

  it('leaves to others what it has no room for', async () => {
    scene.executor.script = scene.executor.lasting(MINUTE);
    await scene.publish({ maxConcurrent: 100 }, 3);
    start(2);
    scene.harness.worker('other', { concurrency: 1 }).start();
    await advance(100);
    expect(scene.executor.running).toBe(3);
  });

  it('is ready while it works, also when all its room is taken for long', async () => {
    scene.executor.script = scene.executor.lasting(MINUTE);
    const worker = start(1);
    expect(worker.readiness.report().isReady).toBe(false);
    await scene.publish();
    await advance(1000);
    expect(worker.readiness.report().isReady).toBe(true);
    await advance(40_000);
    expect(worker.readiness.report()).toEqual({
      isReady: true,
      parts: [{ part: 'worker', isReady: true, problem: null }],
    });
  });

  it('stops at once although all its room is taken', async () => {
    scene.executor.script = scene.executor.lasting(5000);
    await scene.publish({}, 1);
    const worker = start(1);
    await advance(1000);
    await scene.publish({}, 1, 'later');
    const stopped = worker.stop();
    await advance(10_000);
    await stopped;
    expect(scene.executor.calls).toHaveLength(1);
  });

  it('goes on after takes that failed, and says that it is not ready', async () => {
    const worker = start();
    await advance(100);
    worker.redis.state = 'cut';
    await advance(3000);
    expect(worker.readiness.report().parts).toEqual([
      { part: 'worker', isReady: false, problem: 'take: the store is away' },
    ]);
    await scene.publish();
    worker.redis.state = 'passing';
    await advance(500);
    expect(await scene.endings()).toEqual(['success']);
    expect(worker.readiness.report().isReady).toBe(true);
  });

  it.each([
    ['that cannot be claimed', new AxError('unavailable', 'the queue is away')],
    ['that breaks a rule nobody thought of', new TypeError('cannot read undefined')],
  ])('goes on after a delivery %s, which comes again', async (_, error) => {
    const worker = start();
    let failures = 0;
    worker.redis.before = (method, [delivery]) => {
      const isBad = JSON.stringify(delivery ?? null).includes('"bad"');
      if (method === 'claim' && isBad && (failures += 1) === 1) throw error;
    };
    await scene.publish({}, 1, 'bad');
    await scene.publish({}, 1, 'good');
    await advance(100);
    expect((await scene.ended()).map(({ taskId }) => taskId)).toEqual(['good']);
    expect(worker.logger.lines.map(([, , message]) => message)).toContain(
      'run not claimed, the queue hands it out again',
    );
    await advance(20_000);
    expect((await scene.ended()).map(({ taskId }) => taskId)).toEqual(['good', 'bad']);
  });

  it('counts and logs messages that cannot be read', async () => {
    const { queue } = scene.harness.broker;
    const take = queue.take.bind(queue);
    queue.take = (request) => {
      queue.take = take;
      request.onPoison('handle-1', new SyntaxError('not a message'));
      return take(request);
    };
    const worker = start();
    await scene.publish();
    await advance(100);
    expect(total(worker.metrics, 'poison_messages_total', { stream: 'queue' })).toBe(1);
    expect(worker.logger.lines[0]?.[1]).toMatchObject({ handle: 'handle-1' });
    expect(await scene.endings()).toEqual(['success']);
  });

  it('leaves no listener on its stop signal, however often its room was taken', async () => {
    scene.executor.script = scene.executor.lasting(10);
    const stop = new AbortController();
    let listeners = 0;
    const add = stop.signal.addEventListener.bind(stop.signal);
    const remove = stop.signal.removeEventListener.bind(stop.signal);
    stop.signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    stop.signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    const { loop } = scene.harness.worker('worker', { concurrency: 1 });
    const running = loop.run(stop.signal);
    await scene.publish({ maxConcurrent: 100 }, 30);
    await advance(5000);
    expect(await scene.endings()).toHaveLength(30);
    expect(listeners).toBeLessThanOrEqual(3);
    stop.abort();
    await running;
  });
});
