import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sha256TokenHash } from '../../../../src/adapters/system/sha256-token-hash.js';
import { type HttpExecutorSpec } from '../../../../src/domain/executors/http-spec.js';
import { type Policy } from '../../../../src/domain/policy.js';
import { type Delivered } from '../../../../src/ports/executor.js';
import { type QueueMessage } from '../../../../src/ports/queue.js';
import { type Receipt, type ReceiptAnswer } from '../../../../src/ports/receipts.js';
import { total } from '../../../support/measured.js';
import { RunScene } from '../../../support/run-scene.js';
import { failed } from '../../../support/scripted-executor.js';
import { type WorkerNode } from '../../../support/worker-node.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DELIVERED: Delivered = { status: 'delivered', evidence: { http_status: 202 } };
const RECEIPT: HttpExecutorSpec = {
  type: 'http',
  url: 'http://orders:8080/run',
  method: 'POST',
  headers: {},
  ack: 'receipt',
  signature: null,
};

describe('a run that ends with a receipt', () => {
  const hash = new Sha256TokenHash();
  let scene: RunScene;
  let worker: WorkerNode;
  beforeEach(async () => {
    scene = await RunScene.open();
    worker = scene.harness.worker('worker-1').start();
    scene.executor.script = () => DELIVERED;
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);
  const publish = async (policy: Partial<Policy> = {}): Promise<QueueMessage> =>
    (await scene.publish({ timeoutSec: 3600, ...policy }, 1, 'task', RECEIPT))[0]!;
  const tokenOf = (call: number) => scene.executor.calls[call]?.request.receipt?.token ?? '';
  const post = (
    { event }: QueueMessage,
    kind: Receipt['kind'],
    { token = tokenOf(0), message = null as string | null } = {},
  ): Promise<ReceiptAnswer> =>
    scene.harness.broker.receipts.post(event.id, hash.of(token), { kind, message });

  it('waits in the state running, and ends as its receipt says', async () => {
    const message = await publish();
    await advance(30 * MINUTE);
    expect(await scene.told()).toEqual(['claimed running', 'delivered running']);
    expect(await post(message, 'success', { message: '12 rows' })).toBe('accepted');
    await advance(0);
    const [ended] = await scene.ended();
    expect(ended).toMatchObject({ status: 'success', reason: null, message: '12 rows', attempt: 1 });
    expect(ended?.evidence).toMatchObject({ http_status: 202, receipt: 'success' });
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('fails as its receipt says, and is tried again by its policy with another token', async () => {
    const message = await publish({ isIdempotent: true, retryCount: 1, retryIntervalSec: 60 });
    await advance(1000);
    await post(message, 'fail', { message: 'no disk space' });
    await advance(MINUTE);
    expect(scene.executor.calls.map(({ request }) => request.attempt)).toEqual([1, 2]);
    expect(await post(message, 'success')).toBe('superseded');
    expect(await post(message, 'success', { token: tokenOf(1) })).toBe('accepted');
    await advance(0);
    expect(await scene.endings()).toEqual(['success']);
    const failures = (await scene.reports()).filter(({ entry }) => entry.kind === 'attempt_failed');
    expect(failures).toMatchObject([{ reason: 'receipt', message: 'no disk space' }]);
  });

  it('records progress, each once, and is not prolonged by it', async () => {
    const message = await publish({ timeoutSec: 60 });
    await advance(1000);
    await post(message, 'progress', { message: 'half' });
    await advance(20_000);
    await post(message, 'progress', { message: 'nearly' });
    await advance(38_999);
    const progress = (await scene.reports()).filter(({ entry }) => entry.kind === 'progress');
    expect(progress.map(({ entry }) => entry.detail['message'])).toEqual(['half', 'nearly']);
    expect(await scene.ended()).toEqual([]);
    await advance(1);
    expect(await scene.endings()).toEqual(['timeout deadline']);
    expect(scene.executor.withdrawn).toEqual(['deadline']);
    expect(await post(message, 'success')).toBe('late');
  });

  it('ends at once when it is stopped, and tells the target', async () => {
    const message = await publish();
    await advance(1000);
    await scene.cancel(message);
    await advance(0);
    expect(await scene.endings()).toEqual(['fail cancelled']);
    expect(scene.executor.withdrawn).toEqual(['cancelled']);
    expect(await post(message, 'success')).toBe('late');
  });

  it('takes every receipt for a wrong one that has another token', async () => {
    const message = await publish();
    await advance(1000);
    expect(await post(message, 'success', { token: hash.newToken() })).toBe('wrong_token');
    await advance(MINUTE);
    expect(await scene.ended()).toEqual([]);
  });

  it.each([{ isIdempotent: true }, { isIdempotent: false }])(
    'is waited on by the next worker, not run again, when its worker dies: $isIdempotent',
    async (policy) => {
      const message = await publish(policy);
      await advance(1000);
      worker.crash();
      scene.harness.worker('worker-2').start();
      await advance(10 * MINUTE);
      expect(scene.executor.calls).toHaveLength(1);
      expect(await scene.ended()).toEqual([]);
      expect(await post(message, 'success')).toBe('accepted');
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
    await publish({ timeoutSec: 120 });
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
    const message = await publish();
    await advance(1000);
    worker.crash();
    await post(message, 'success');
    await advance(MINUTE);
    scene.harness.worker('worker-2').start();
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('counts the receipt that came while no worker waited, also when its time has passed since', async () => {
    const message = await publish({ timeoutSec: 120 });
    await advance(1000);
    worker.crash();
    await post(message, 'success');
    await advance(HOUR);
    scene.harness.worker('worker-2').start();
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['success']);
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('takes no receipt between the deadline of an attempt and the next one', async () => {
    const message = await publish({
      isIdempotent: true,
      timeoutSec: 60,
      retryCount: 1,
      retryIntervalSec: 600,
    });
    await advance(2 * MINUTE);
    expect(await post(message, 'success')).toBe('late');
    await advance(9.5 * MINUTE);
    expect(await post(message, 'success')).toBe('superseded');
    expect(await post(message, 'success', { token: tokenOf(1) })).toBe('accepted');
    await advance(0);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('counts a receipt of an attempt whose connection broke, and takes none after that', async () => {
    const policy = { isIdempotent: true, retryCount: 1, retryIntervalSec: 60 };
    const { executor } = scene;
    const last = { sent: 0, answer: null as ReceiptAnswer | null };
    executor.script = async ({ executionId, receipt }) => {
      last.sent += 1;
      const token = hash.of(receipt?.token ?? '');
      const done = { kind: 'success', message: null } as const;
      if (last.sent === 2) last.answer = await scene.harness.broker.receipts.post(executionId, token, done);
      return failed('network');
    };
    const message = await publish(policy);
    await advance(1000);
    expect(await post(message, 'success')).toBe('late');
    await advance(MINUTE);
    expect(last).toEqual({ sent: 2, answer: 'accepted' });
    expect(await scene.endings()).toEqual(['success']);
  });

  it('is handed over by a drain, whether it may be repeated or not', async () => {
    const message = await publish();
    await advance(1000);
    const stopped = worker.stop();
    await advance(MINUTE);
    await stopped;
    expect((await scene.told()).at(-1)).toBe('handed_back pending');
    scene.harness.worker('worker-2').start();
    await advance(1000);
    await post(message, 'success');
    await advance(1000);
    expect(scene.executor.calls).toHaveLength(1);
    expect(await scene.endings()).toEqual(['success']);
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('opens its wait again when the store came back empty', async () => {
    const message = await publish();
    await advance(1000);
    scene.harness.loseQueue();
    await advance(MINUTE);
    expect(await post(message, 'success')).toBe('accepted');
    await advance(1000);
    expect(await scene.endings()).toEqual(['success']);
  });

  it('needs no receipt when the target could not take it over', async () => {
    scene.executor.script = () => failed('network');
    const message = await publish();
    await advance(1000);
    expect(await scene.endings()).toEqual(['fail network']);
    expect(await post(message, 'success')).toBe('late');
    expect(scene.executor.withdrawn).toEqual([]);
  });

  it('is marked slow when it is, and goes on', async () => {
    const message = await publish({ slowAfterSec: 600 });
    await advance(HOUR / 2);
    await post(message, 'success');
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
    const message = await publish({ slowAfterSec: 600 });
    await advance(599_999);
    await post(message, 'success');
    await advance(MINUTE);
    expect(await scene.told()).toEqual(['claimed running', 'delivered running', 'finished success']);
    expect((await scene.ended())[0]?.evidence).not.toHaveProperty('slow_after_sec');
  });
});
