import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BASE } from '../../../support/builders.js';
import { total, valuesOf } from '../../../support/measured.js';
import { RunScene } from '../../../support/run-scene.js';
import { failed, succeeded, timedOut } from '../../../support/scripted-executor.js';
import { type WorkerNode } from '../../../support/worker-node.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const IDEMPOTENT = { isIdempotent: true };

describe('RunExecution', () => {
  let scene: RunScene;
  let worker: WorkerNode;
  beforeEach(async () => {
    scene = await RunScene.open();
    worker = scene.harness.worker('worker-1').start();
  });
  afterEach(() => scene.close());

  const advance = (ms: number) => scene.harness.clock.advance(ms);
  const starts = () => scene.executor.calls.map(({ startedAt }) => startedAt - BASE);

  it('claims, runs, and finishes a run that succeeds', async () => {
    scene.executor.script = scene.executor.lasting(700);
    await advance(250);
    const [message] = await scene.publish();
    await advance(1000);
    const [claimed, finished, ...others] = await scene.reports();
    expect(others).toEqual([]);
    const who = { executionId: message?.event.id, taskId: 'task', worker: 'worker-1', generation: 1 };
    expect(claimed).toMatchObject({
      ...who,
      seq: 0,
      status: 'running',
      startedAt: BASE + 250,
      finishedAt: null,
      entry: { kind: 'claimed', at: BASE + 250, node: 'worker-1', detail: { published_at: BASE + 250 } },
    });
    expect(finished).toMatchObject({
      ...who,
      seq: 1,
      status: 'success',
      reason: null,
      attempt: 1,
      startedAt: BASE + 250,
      finishedAt: BASE + 950,
      entry: { kind: 'finished', at: BASE + 950, detail: { attempt: 1, status: 'success' } },
    });
    expect(await scene.harness.broker.queue.depth()).toBe(0);
    expect(valuesOf(worker.metrics, 'execution_duration_seconds', { group: 'default' })).toEqual([0.7]);
    expect(total(worker.metrics, 'executions_total', { status: 'success', reason: 'none' })).toBe(1);
  });

  it('tells the executor everything about the attempt, in the trace of the run', async () => {
    const [message] = await scene.publish({ timeoutSec: 45 });
    await advance(0);
    const [call] = scene.executor.calls;
    const { event, task } = message ?? (await scene.publish())[0]!;
    expect(call?.request).toMatchObject({
      executionId: event.id,
      taskId: 'task',
      spec: task.executor,
      params: task.params,
      slot: event.slot,
      firedAt: event.firedAt,
      attempt: 1,
      timeoutMs: 45_000,
    });
    const [, trace, span] = call?.request.traceparent.split('-') ?? [];
    const [, runTrace, runSpan] = event.traceparent.split('-');
    expect(trace).toBe(runTrace);
    expect(span).not.toBe(runSpan);
  });

  it('retries at fixed intervals: 3:00 fails, then 3:01, 3:02, 3:03, then it is final', async () => {
    scene.executor.script = () => failed();
    await advance(3 * HOUR);
    await scene.publish({ ...IDEMPOTENT, retryCount: 3, retryIntervalSec: 60 });
    await advance(10 * MINUTE);
    expect(starts()).toEqual([0, 1, 2, 3].map((minutes) => 3 * HOUR + minutes * MINUTE));
    expect(scene.executor.calls.map(({ request }) => request.attempt)).toEqual([1, 2, 3, 4]);
    const retry = ['attempt_failed retrying', 'retry_planned retrying', 'attempt_started running'];
    expect(await scene.told()).toEqual(['claimed running', ...retry, ...retry, ...retry, 'finished fail']);
    const detailsOf = async (kind: string) =>
      (await scene.reports()).filter(({ entry }) => entry.kind === kind).map(({ entry }) => entry.detail);
    expect((await detailsOf('retry_planned')).map(({ retry_at }) => Number(retry_at) - BASE)).toEqual(
      [1, 2, 3].map((minutes) => 3 * HOUR + minutes * MINUTE),
    );
    expect(await detailsOf('attempt_failed')).toMatchObject(
      [1, 2, 3].map((attempt) => ({ attempt, evidence: { http_status: 500 } })),
    );
    const [final] = await scene.ended();
    expect(final).toMatchObject({
      status: 'fail',
      reason: 'http_status',
      message: 'failed: http_status',
      evidence: { http_status: 500 },
      attempt: 4,
      startedAt: BASE + 3 * HOUR,
      finishedAt: BASE + 3 * HOUR + 3 * MINUTE,
    });
    expect(total(worker.metrics, 'attempts_total', { status: 'fail', reason: 'http_status' })).toBe(4);
    expect(total(worker.metrics, 'executions_total')).toBe(1);
  });

  it('counts the interval from the end of the failed attempt, and says when the next one comes', async () => {
    scene.executor.script = scene.executor.lasting(5000, failed());
    await scene.publish({ ...IDEMPOTENT, retryCount: 1, retryIntervalSec: 60 });
    await advance(2 * MINUTE);
    expect(starts()).toEqual([0, 65_000]);
    const planned = (await scene.reports()).find(({ entry }) => entry.kind === 'retry_planned');
    expect(planned?.entry.detail).toEqual({ attempt: 2, delay_ms: 60_000, retry_at: BASE + 65_000 });
  });

  it('spreads retries by chance when the policy wants it', async () => {
    scene.executor.script = () => failed();
    const exponential = { retryStrategy: 'exponential', retryIntervalSec: 10, hasRetryJitter: true } as const;
    await scene.publish({ ...IDEMPOTENT, ...exponential, retryCount: 3 });
    await advance(5 * MINUTE);
    expect(starts()).toEqual([0, 5000, 15_000, 35_000]);
  });

  it('ends as success when a retry succeeds', async () => {
    scene.executor.script = ({ attempt }) => (attempt < 3 ? failed('connect') : succeeded());
    await scene.publish({ ...IDEMPOTENT, retryCount: 5 });
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['success']);
    expect((await scene.ended())[0]).toMatchObject({ attempt: 3, message: null, evidence: {} });
    expect(scene.executor.calls).toHaveLength(3);
  });

  it('keeps a timeout apart from a failure, also after retries', async () => {
    scene.executor.script = () => timedOut();
    await scene.publish({}, 1, 'once');
    await scene.publish({ ...IDEMPOTENT, retryCount: 1 }, 1, 'twice');
    await advance(MINUTE);
    expect(await scene.endings()).toEqual(['timeout deadline', 'timeout deadline']);
  });

  it('has no retries unless the policy gives some', async () => {
    scene.executor.script = () => failed();
    await scene.publish();
    await advance(HOUR);
    expect(scene.executor.calls).toHaveLength(1);
  });

  it('ends as internal_error when the executor throws, and runs others on', async () => {
    scene.executor.script = ({ taskId }) => {
      if (taskId === 'bad') throw new RangeError('a bug');
      return succeeded();
    };
    await scene.publish({}, 1, 'bad');
    await scene.publish({}, 1, 'good');
    await advance(0);
    expect((await scene.endings()).toSorted()).toEqual(['fail internal_error', 'success']);
    expect((await scene.ended()).find(({ taskId }) => taskId === 'bad')?.message).toBe('a bug');
    expect(worker.logger.lines.map(([, , message]) => message)).toContain('executor threw, which is a bug');
  });

  it('ends what this worker has no executor for', async () => {
    await worker.stop();
    scene.harness.worker('bare', { executors: new Map() }).start();
    await scene.publish();
    await advance(1000);
    expect(await scene.endings()).toEqual(['fail unsupported_executor']);
    expect((await scene.ended())[0]).toMatchObject({
      attempt: 0,
      message: 'worker bare has no executor "http"',
    });
  });

  describe('beside other runs of its task', () => {
    it('is skipped as overlap when they are max_concurrent', async () => {
      scene.executor.script = scene.executor.lasting(10_000);
      await scene.publish({ maxConcurrent: 2 }, 3);
      await advance(20_000);
      expect((await scene.endings()).toSorted()).toEqual(['skipped overlap', 'success', 'success']);
      expect(scene.executor.peak).toBe(2);
      const skipped = (await scene.ended()).find(({ status }) => status === 'skipped');
      expect(skipped).toMatchObject({
        attempt: 0,
        startedAt: null,
        message: 'already running max_concurrent = 2 times',
      });
    });

    it('counts while it waits for a retry, and each slot has retries of its own', async () => {
      scene.executor.script = () => failed();
      const policy = { ...IDEMPOTENT, retryCount: 3, retryIntervalSec: 50 * 60 };
      for (let hour = 0; hour < 6; hour++) {
        await scene.publish({ ...policy, maxConcurrent: 3 }, 1, 'roomy');
        await scene.publish({ ...policy, maxConcurrent: 1 }, 1, 'narrow');
        await advance(HOUR);
      }
      await advance(3 * HOUR);
      const slotsOf = (taskId: string) => {
        const calls = scene.executor.calls.filter(({ request }) => request.taskId === taskId);
        const slots = [...new Set(calls.map(({ request }) => request.slot))];
        return slots.map((slot) => [
          (slot - BASE) / HOUR,
          ...calls
            .filter(({ request }) => request.slot === slot)
            .map(({ request, startedAt }) => [request.attempt, (startedAt - slot) / MINUTE]),
        ]);
      };
      const attempts = [1, 2, 3, 4].map((attempt) => [attempt, (attempt - 1) * 50]);
      expect(slotsOf('roomy')).toEqual([0, 1, 2, 3, 4, 5].map((hour) => [hour, ...attempts]));
      expect(slotsOf('narrow')).toEqual([0, 3].map((hour) => [hour, ...attempts]));
      expect((await scene.endings()).filter((ending) => ending === 'skipped overlap')).toHaveLength(4);
    });
  });
});
