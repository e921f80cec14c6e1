import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { W3cTracer } from '../../../../src/adapters/telemetry/w3c-tracer.js';
import { DeliverHooks } from '../../../../src/application/coordinator/deliver-hooks.js';
import { owing } from '../../../../src/application/owing.js';
import { type Status } from '../../../../src/domain/execution.js';
import { httpTarget, mqTarget, type PostHook } from '../../../../src/domain/hooks.js';
import { type TriggerEvent } from '../../../../src/domain/trigger.js';
import { BASE, buildEvent, buildReport, buildTask } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { openMemoryStore } from '../../../support/memory-store/memory-store.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';
import { recordEvents } from '../../../support/runs.js';
import { failed, ScriptedExecutor, succeeded } from '../../../support/scripted-executor.js';
import { type Store } from '../../../support/store.js';

const HOOK: PostHook = {
  on: 'always',
  target: httpTarget({ url: 'http://oncall/runs', method: 'POST', headers: {} }),
  retryCount: 2,
  retryIntervalSec: 10,
};

describe('post-hooks', () => {
  let store: Store;
  let clock: FakeClock;
  let executor: ScriptedExecutor;
  let metrics: RecordingMetrics;
  let running: { stop: AbortController; ended: Promise<void> }[];

  beforeEach(async () => {
    store = await openMemoryStore();
    clock = new FakeClock(BASE);
    executor = new ScriptedExecutor(clock);
    metrics = new RecordingMetrics();
    running = [];
  });
  afterEach(async () => {
    for (const { stop } of running) stop.abort();
    await clock.advance(120_000);
    await Promise.all(running.map(({ ended }) => ended));
    expect(clock.pendingTimers).toBe(0);
  });

  function coordinator(node = 'c-1', executors = new Map([[executor.type, executor]])) {
    const logger = new RecordingLogger();
    const tracer = new W3cTracer();
    const deliver = new DeliverHooks({ hooks: store.hooks, executors, tracer, clock, metrics, logger, node });
    const stop = new AbortController();
    const one = { stop, ended: deliver.run(stop.signal), logger };
    running.push(one);
    return one;
  }
  async function end(status: Status, hook: PostHook = HOOK): Promise<TriggerEvent> {
    const event = buildEvent({ taskId: 'sync' });
    await recordEvents(store, [event]);
    const entry = { kind: 'finished', at: BASE + 900, node: 'worker-1', detail: {} } as const;
    const report = buildReport({
      executionId: event.id,
      taskId: event.taskId,
      status,
      seq: 5,
      startedAt: BASE + 100,
      finishedAt: BASE + 900,
      entry,
    });
    const hooks = { pre: null, post: hook };
    await store.executions.apply([owing(report, buildTask({ name: 'Sync', group: 'orders', hooks }))]);
    return event;
  }
  const linesOf = async ({ id }: TriggerEvent) =>
    ((await store.executions.find(id))?.ledger ?? []).filter(({ kind }) => kind.startsWith('post_hook'));
  const results = () =>
    metrics.seen.flatMap(({ name, labels }) => (name === 'post_hooks_total' ? [labels['result']] : []));

  it('tell what became of an execution, once it has ended', async () => {
    const event = await end('fail');
    coordinator();
    await clock.advance(60_000);
    expect(executor.calls.map(({ request }) => request)).toMatchObject([
      {
        executionId: event.id,
        attempt: 1,
        spec: HOOK.target,
        hook: {
          kind: 'post',
          key: `${event.id}:post`,
          body: {
            execution_id: event.id,
            task_id: 'sync',
            task_name: 'Sync',
            group: 'orders',
            schedule_at: event.slot,
            status: 'fail',
            attempt: 1,
            started_at: BASE + 100,
            finished_at: BASE + 900,
            duration_ms: 800,
            trace_id: event.traceparent.split('-')[1],
          },
        },
      },
    ]);
    expect(executor.calls[0]?.request.traceparent).toContain(event.traceparent.split('-')[1]);
    expect(await linesOf(event)).toMatchObject([{ kind: 'post_hook_sent', node: 'c-1', detail: { try: 1 } }]);
    expect(results()).toEqual(['sent']);
  });

  it.each([
    ['success', ['success']],
    ['failure', ['fail', 'timeout']],
    ['always', ['success', 'fail', 'timeout', 'skipped']],
  ] as const)('on %s are told of %j and of nothing else', async (on, asked) => {
    for (const status of ['success', 'fail', 'timeout', 'skipped', 'running', 'pending'] as const)
      await end(status, { ...HOOK, on });
    coordinator();
    await clock.advance(5000);
    const told = executor.calls.map(({ request }) => (request.hook?.body as { status: Status }).status);
    expect(told.sort()).toEqual(asked.toSorted());
  });

  it('that fail are told again, each delay twice as long, until they are taken', async () => {
    let calls = 0;
    executor.script = () => (++calls < 3 ? failed() : succeeded());
    const event = await end('success');
    coordinator();
    await clock.advance(3_600_000);
    const at = executor.calls.map(({ startedAt }) => startedAt - BASE);
    // A delay is looked at once a second.
    expect(at.map((ms) => Math.round(ms / 1000))).toEqual([0, 10, 30]);
    expect(new Set(executor.calls.map(({ request }) => request.hook?.key)).size).toBe(1);
    expect(executor.calls.map(({ request }) => request.attempt)).toEqual([1, 2, 3]);
    expect(await linesOf(event)).toMatchObject([
      { kind: 'post_hook_failed', detail: { try: 1, reason: 'http_status', retry_at: BASE + 10_000 } },
      { kind: 'post_hook_failed', detail: { try: 2, is_final: false } },
      { kind: 'post_hook_sent', detail: { try: 3 } },
    ]);
    expect((await store.executions.find(event.id))?.execution.status).toBe('success');
  });

  it('are given up after their tries, which the ledger and a metric say', async () => {
    executor.script = () => failed();
    const event = await end('fail');
    coordinator();
    await clock.advance(86_400_000);
    expect(executor.calls).toHaveLength(3);
    expect((await linesOf(event)).at(-1)).toMatchObject({
      kind: 'post_hook_failed',
      detail: { try: 3, retry_at: null, is_final: true, evidence: { http_status: 500 } },
    });
    expect(results()).toEqual(['failed', 'failed', 'given_up']);
    expect((await store.executions.find(event.id))?.execution.status).toBe('fail');
  });

  it('that no executor of the coordinator can send fail with a clear reason', async () => {
    const target = mqTarget({ broker: 'default', exchange: '', routingKey: 'runs', headers: {} });
    const event = await end('fail', { ...HOOK, target, retryCount: 0 });
    coordinator();
    await clock.advance(2000);
    expect(await linesOf(event)).toMatchObject([
      {
        kind: 'post_hook_failed',
        detail: { reason: 'unsupported_executor', message: 'coordinator c-1 has no executor "mq"' },
      },
    ]);
  });

  it('are told by one of two coordinators', async () => {
    executor.script = executor.lasting(5000);
    for (let i = 0; i < 50; i++) await end('fail');
    coordinator('c-1');
    coordinator('c-2');
    await clock.advance(60_000);
    expect(executor.calls).toHaveLength(50);
    expect(executor.peak).toBeLessThanOrEqual(64);
    expect(results()).toHaveLength(50);
  });

  it('that a coordinator could not settle are told again after its lease, with the same key', async () => {
    const event = await end('fail');
    store.failNext(/execution_event/);
    const first = coordinator();
    await clock.advance(59_000);
    expect(executor.calls).toHaveLength(1);
    expect(first.logger.lines.some(([level]) => level === 'error')).toBe(true);
    await clock.advance(2000);
    expect(executor.calls.map(({ request }) => request.hook?.key)).toEqual([
      `${event.id}:post`,
      `${event.id}:post`,
    ]);
    expect(await linesOf(event)).toMatchObject([{ kind: 'post_hook_sent' }]);
  });

  it('on their way when the coordinator stops come to their end', async () => {
    executor.script = executor.lasting(8000);
    const event = await end('fail');
    const { stop, ended } = coordinator();
    await clock.advance(1000);
    stop.abort();
    await end('fail');
    await clock.advance(8000);
    await ended;
    expect(executor.calls).toHaveLength(1);
    expect(await linesOf(event)).toMatchObject([{ kind: 'post_hook_sent' }]);
  });

  it('whose executor throws count as failed', async () => {
    executor.script = () => {
      throw new Error('a bug');
    };
    const event = await end('fail');
    coordinator();
    await clock.advance(1000);
    expect(await linesOf(event)).toMatchObject([{ kind: 'post_hook_failed', detail: { message: 'a bug' } }]);
  });
});
