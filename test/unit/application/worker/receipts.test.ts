import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ReceiptAnswer } from '../../../../src/ports/receipts.js';
import { total } from '../../../support/measured.js';
import { ReceiptScene } from '../../../support/receipt-scene.js';
import { RunScene } from '../../../support/run-scene.js';
import { failed } from '../../../support/scripted-executor.js';
import { type WorkerNode } from '../../../support/worker-node.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('a run that ends with a receipt', () => {
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

  it('waits in the state running, and ends as its receipt says', async () => {
    const message = await target.publish();
    await advance(30 * MINUTE);
    expect(await scene.told()).toEqual(['claimed running', 'delivered running']);
    expect(await target.post(message, 'success', { message: '12 rows' })).toBe('accepted');
    await advance(0);
    const [ended] = await scene.ended();
    expect(ended).toMatchObject({ status: 'success', reason: null, message: '12 rows', attempt: 1 });
    expect(ended?.evidence).toMatchObject({ http_status: 202, receipt: 'success' });
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('fails as its receipt says, and is tried again by its policy with another token', async () => {
    const message = await target.publish({ isIdempotent: true, retryCount: 1, retryIntervalSec: 60 });
    await advance(1000);
    await target.post(message, 'fail', { message: 'no disk space' });
    await advance(MINUTE);
    expect(scene.executor.calls.map(({ request }) => request.attempt)).toEqual([1, 2]);
    expect(await target.post(message, 'success')).toBe('superseded');
    expect(await target.post(message, 'success', { token: target.tokenOf(1) })).toBe('accepted');
    await advance(0);
    expect(await scene.endings()).toEqual(['success']);
    const failures = (await scene.reports()).filter(({ entry }) => entry.kind === 'attempt_failed');
    expect(failures).toMatchObject([{ reason: 'receipt', message: 'no disk space' }]);
  });

  it('records progress, each once, and is not prolonged by it', async () => {
    const message = await target.publish({ timeoutSec: 60 });
    await advance(1000);
    await target.post(message, 'progress', { message: 'half' });
    await advance(20_000);
    await target.post(message, 'progress', { message: 'nearly' });
    await advance(38_999);
    const progress = (await scene.reports()).filter(({ entry }) => entry.kind === 'progress');
    expect(progress.map(({ entry }) => entry.detail['message'])).toEqual(['half', 'nearly']);
    expect(await scene.ended()).toEqual([]);
    await advance(1);
    expect(await scene.endings()).toEqual(['timeout deadline']);
    expect(scene.executor.withdrawn).toEqual(['deadline']);
    expect(await target.post(message, 'success')).toBe('late');
  });

  it('ends at once when it is stopped, and tells the target', async () => {
    const message = await target.publish();
    await advance(1000);
    await scene.cancel(message);
    await advance(0);
    expect(await scene.endings()).toEqual(['fail cancelled']);
    expect(scene.executor.withdrawn).toEqual(['cancelled']);
    expect(await target.post(message, 'success')).toBe('late');
  });

  it('counts the receipt that came while its worker could not read it, also when its time passes meanwhile', async () => {
    const message = await target.publish({ timeoutSec: 60 });
    await advance(1000);
    worker.redis.state = 'cut';
    expect(await target.post(message, 'success')).toBe('accepted');
    await advance(2 * MINUTE);
    worker.redis.state = 'passing';
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['success']);
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('takes every receipt for a wrong one that has another token', async () => {
    const message = await target.publish();
    await advance(1000);
    expect(await target.post(message, 'success', { token: target.hash.newToken() })).toBe('wrong_token');
    await advance(MINUTE);
    expect(await scene.ended()).toEqual([]);
  });

  it('takes no receipt between the deadline of an attempt and the next one', async () => {
    const message = await target.publish({
      isIdempotent: true,
      timeoutSec: 60,
      retryCount: 1,
      retryIntervalSec: 600,
    });
    await advance(2 * MINUTE);
    expect(await target.post(message, 'success')).toBe('late');
    await advance(9.5 * MINUTE);
    expect(await target.post(message, 'success')).toBe('superseded');
    expect(await target.post(message, 'success', { token: target.tokenOf(1) })).toBe('accepted');
    await advance(0);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('counts a receipt of an attempt whose connection broke, and takes none after that', async () => {
    const policy = { isIdempotent: true, retryCount: 1, retryIntervalSec: 60 };
    const { executor } = scene;
    const last = { sent: 0, answer: null as ReceiptAnswer | null };
    executor.script = async ({ executionId, receipt }) => {
      last.sent += 1;
      const token = target.hash.of(receipt?.token ?? '');
      const done = { kind: 'success', message: null } as const;
      if (last.sent === 2) last.answer = await scene.harness.broker.receipts.post(executionId, token, done);
      return failed('network');
    };
    const message = await target.publish(policy);
    await advance(1000);
    expect(await target.post(message, 'success')).toBe('late');
    await advance(MINUTE);
    expect(last).toEqual({ sent: 2, answer: 'accepted' });
    expect(await scene.endings()).toEqual(['success']);
  });

  it('needs no receipt when the target could not take it over', async () => {
    scene.executor.script = () => failed('network');
    const message = await target.publish();
    await advance(1000);
    expect(await scene.endings()).toEqual(['fail network']);
    expect(await target.post(message, 'success')).toBe('late');
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('is marked slow when it is, and goes on', async () => {
    const message = await target.publish({ slowAfterSec: 600 });
    await advance(HOUR / 2);
    await target.post(message, 'success');
    await advance(0);
    expect(await scene.told()).toEqual([
      'claimed running',
      'delivered running',
      'slow running',
      'finished success',
    ]);
    const slow = (await scene.reports()).find(({ entry }) => entry.kind === 'slow');
    expect(slow?.entry.detail).toEqual({ attempt: 1, slow_after_sec: 600 });
    expect((await scene.ended())[0]?.evidence).toMatchObject({ slow_after_sec: 600 });
    expect(total(worker.metrics, 'slow_executions_total', { group: 'default' })).toBe(1);
  });

  it('is not marked slow when it ends before', async () => {
    const message = await target.publish({ slowAfterSec: 600 });
    await advance(599_999);
    await target.post(message, 'success');
    await advance(MINUTE);
    expect(await scene.told()).toEqual(['claimed running', 'delivered running', 'finished success']);
    expect((await scene.ended())[0]?.evidence).not.toHaveProperty('slow_after_sec');
  });
});
