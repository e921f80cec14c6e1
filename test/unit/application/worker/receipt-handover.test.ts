import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { total, valuesOf } from '../../../support/measured.js';
import { ReceiptScene } from '../../../support/receipt-scene.js';
import { RunScene } from '../../../support/run-scene.js';
import { type WorkerNode } from '../../../support/worker-node.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('the wait for a receipt', () => {
  let scene: RunScene;
  let worker: WorkerNode;
  let target: ReceiptScene;
  beforeEach(async () => {
    scene = await RunScene.open();
    worker = scene.harness.worker('worker-1').start();
    target = new ReceiptScene(scene);
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);

  it.each([{ isIdempotent: true }, { isIdempotent: false }])(
    'is waited on by the next worker, not run again, when its worker dies: $isIdempotent',
    async (policy) => {
      const message = await target.publish(policy);
      await advance(1000);
      worker.crash();
      scene.harness.worker('worker-2').start();
      await advance(10 * MINUTE);
      expect(scene.executor.calls).toHaveLength(1);
      expect(await scene.ended()).toEqual([]);
      expect(await target.post(message, 'success')).toBe('accepted');
      await advance(1000);
      const [ended] = await scene.ended();
      expect(ended).toMatchObject({ status: 'success', attempt: 1, worker: 'worker-2', generation: 2 });
      expect(await scene.told()).toEqual([
        'claimed running',
        'delivered running',
        'resumed running',
        'finished success',
      ]);
    },
  );

  it('keeps its deadline under the next worker', async () => {
    await target.publish({ timeoutSec: 120 });
    await advance(60_000);
    worker.crash();
    scene.harness.worker('worker-2').start();
    await advance(59_000);
    expect(await scene.ended()).toEqual([]);
    await advance(1000);
    expect(await scene.endings()).toEqual(['timeout deadline']);
    expect(scene.executor.withdrawn).toEqual(['deadline']);
  });

  it('counts the receipt that came while no worker waited', async () => {
    const message = await target.publish();
    await advance(1000);
    worker.crash();
    await target.post(message, 'success');
    await advance(MINUTE);
    scene.harness.worker('worker-2').start();
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('counts the receipt that came while no worker waited, also when its time has passed since', async () => {
    const message = await target.publish({ timeoutSec: 120 });
    await advance(1000);
    worker.crash();
    await target.post(message, 'success');
    await advance(HOUR);
    scene.harness.worker('worker-2').start();
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['success']);
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('makes no further attempt when its time has passed and another run has taken its place', async () => {
    const policy = { isIdempotent: true, retryCount: 3, retryIntervalSec: 1, timeoutSec: 60 };
    const message = await target.publish(policy);
    await advance(1000);
    worker.crash();
    await advance(MINUTE);
    await target.publish();
    const { queue, claims } = scene.harness.broker;
    const [other] = await queue.take({
      pools: ['default'],
      taker: 'other',
      max: 1,
      waitMs: 0,
      reclaimAfterMs: HOUR,
      signal: new AbortController().signal,
      onPoison: () => undefined,
    });
    expect(await claims.claim(other!, 'other', HOUR)).toMatchObject({ isSaturated: false });
    expect(await target.post(message, 'fail')).toBe('accepted');
    scene.harness.worker('worker-2').start();
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['fail receipt']);
    expect(scene.executor.calls).toHaveLength(1);
  });

  it('is handed over by a drain, whether it may be repeated or not', async () => {
    const message = await target.publish();
    await advance(1000);
    const stopped = worker.stop();
    await advance(MINUTE);
    await stopped;
    expect((await scene.told()).at(-1)).toBe('handed_back pending');
    const heir = scene.harness.worker('worker-2').start();
    await advance(1000);
    await target.post(message, 'success');
    await advance(1000);
    expect(scene.executor.calls).toHaveLength(1);
    expect(await scene.endings()).toEqual(['success']);
    expect(scene.executor.withdrawn).toEqual([]);
    // The attempt that both waited on is one.
    expect(total(worker.metrics, 'attempts_total')).toBe(0);
    expect(total(heir.metrics, 'attempts_total', { task: message.task.id, status: 'success' })).toBe(1);
    expect(valuesOf(heir.metrics, 'queue_to_start_seconds')).toEqual([]);
  });

  it('opens its wait again when the store came back empty', async () => {
    const message = await target.publish();
    await advance(1000);
    scene.harness.loseQueue();
    await advance(MINUTE);
    expect(await target.post(message, 'success')).toBe('accepted');
    await advance(1000);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('counts a receipt from a store that came back empty after it had told of progress', async () => {
    const message = await target.publish();
    await advance(1000);
    expect(await target.post(message, 'progress')).toBe('accepted');
    await advance(1000);
    scene.harness.loseQueue();
    await advance(MINUTE);
    expect(await target.post(message, 'success')).toBe('accepted');
    await advance(1000);
    expect(await scene.endings()).toEqual(['success']);
  });
});
