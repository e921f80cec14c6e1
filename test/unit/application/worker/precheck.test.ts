import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { httpTarget, type PreHook } from '../../../../src/domain/hooks.js';
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { type Task } from '../../../../src/domain/task.js';
import { type ExecutorRequest } from '../../../../src/ports/executor.js';
import { type LastOutcome } from '../../../../src/ports/last-outcomes.js';
import { BASE, buildReport } from '../../../support/builders.js';
import { every, NodeHarness } from '../../../support/node-harness.js';
import { failed, type Script, succeeded } from '../../../support/scripted-executor.js';
import { type WorkerNode } from '../../../support/worker-node.js';

const SLOT = BASE + 10_000;
const HTTP: PreHook = {
  check: {
    type: 'http',
    target: httpTarget({ url: 'http://warehouse/ready', method: 'GET', headers: {} }),
    timeoutSec: 5,
  },
  onFail: 'skip',
  retryCount: 3,
  retryIntervalSec: 20,
};
const AFTER_LOAD: PreHook = { ...HTTP, check: { type: 'task_succeeded', taskId: 'load', withinSec: 60 } };

describe('a pre-hook', () => {
  let harness: NodeHarness;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    harness.coordinator('c-1').start();
  });
  afterEach(() => harness.close());

  const isCheck = ({ request }: { readonly request: ExecutorRequest }) => request.hook?.kind === 'pre';
  const checks = () => harness.executor.calls.filter(isCheck);
  const runs = () => harness.executor.calls.filter((call) => !isCheck(call));
  /** Checks end by turns as `outcomes` say, the last one over and over; runs succeed. */
  const checking = (...outcomes: Script[]): void => {
    let next = 0;
    harness.executor.script = (request, signal) => {
      if (request.hook === undefined) return succeeded();
      return (outcomes[Math.min(next++, outcomes.length - 1)] ?? succeeded)(request, signal);
    };
  };
  /** One task with one slot, which is due from here on. */
  async function due(pre: PreHook, overrides: Partial<Task> = {}): Promise<WorkerNode> {
    const schedule = {
      type: 'interval',
      everySec: 10,
      anchorAt: BASE,
      startAt: null,
      endAt: SLOT,
      jitterSec: 0,
    } as const;
    await harness.add(every(10, { id: 'sync', schedule, hooks: { pre, post: null }, ...overrides }));
    return harness.worker('w-1').start();
  }
  const kinds = async () => (await harness.only('sync')).ledger.map(({ kind }) => kind);

  it('that says go lets the run begin, and the request says that it is a check', async () => {
    await due(HTTP);
    await harness.clock.advance(15_000);
    const { execution, ledger } = await harness.only('sync');
    const { id } = execution.event;
    expect(checks().map(({ request }) => request)).toMatchObject([
      {
        executionId: id,
        spec: { url: 'http://warehouse/ready', method: 'GET' },
        attempt: 1,
        timeoutMs: 5000,
        hook: {
          key: `${id}:pre:1`,
          body: { hook: 'pre', execution_id: id, task_id: 'sync', schedule_at: SLOT, check: 1 },
        },
      },
    ]);
    expect(runs().map(({ request }) => [request.attempt, request.hook])).toEqual([[1, undefined]]);
    expect(execution).toMatchObject({ status: 'success', attempt: 1, reason: null });
    expect(ledger.map(({ kind }) => kind)).toEqual([
      'triggered',
      'published',
      'precheck_passed',
      'claimed',
      'finished',
    ]);
  });

  it('that fails skips the run, with the evidence of the check', async () => {
    checking(() => failed());
    await due(HTTP);
    await harness.clock.advance(15_000);
    const { execution, ledger } = await harness.only('sync');
    expect(runs()).toEqual([]);
    expect(execution).toMatchObject({
      status: 'skipped',
      reason: 'precheck',
      message: 'check 1 failed: failed: http_status',
      attempt: 0,
      startedAt: null,
      evidence: { http_status: 500 },
    });
    expect(ledger.slice(1)).toMatchObject([
      { kind: 'precheck_failed', node: 'w-1', detail: { check: 1, reason: 'http_status' } },
      { kind: 'finished', detail: { attempt: 0, status: 'skipped' } },
    ]);
    expect(await harness.broker.lastOutcomes.read('sync')).toBeNull();
  });

  it('is asked again by its own policy, and the run is pending until it says go', async () => {
    checking(
      () => failed(),
      () => failed(),
      succeeded,
    );
    await due({ ...HTTP, onFail: 'retry' });
    await harness.clock.advance(35_000);
    const { execution: waiting } = await harness.only('sync');
    expect(waiting).toMatchObject({ status: 'pending', reason: 'precheck', attempt: 0, startedAt: null });
    await harness.clock.advance(30_000);
    expect(checks().map(({ startedAt }) => startedAt - SLOT)).toEqual([0, 20_000, 40_000]);
    expect(new Set(checks().map(({ request }) => request.hook?.key)).size).toBe(3);
    expect(runs().map(({ startedAt }) => startedAt - SLOT)).toEqual([40_000]);
    expect((await harness.only('sync')).execution).toMatchObject({
      status: 'success',
      startedAt: SLOT + 40_000,
      evidence: {},
    });
  });

  it('that says no to the last skips the run', async () => {
    checking(() => failed());
    await due({ ...HTTP, onFail: 'retry', retryCount: 2 });
    await harness.clock.advance(120_000);
    expect(checks()).toHaveLength(3);
    expect((await harness.only('sync')).execution).toMatchObject({
      status: 'skipped',
      message: 'check 3 failed: failed: http_status',
    });
  });

  it('that is not answered in time, or by nobody, says no', async () => {
    const pre = { ...HTTP, retryCount: 0 };
    await due(pre, { id: 'sync' });
    harness.executor.script = () => {
      throw new Error('a bug');
    };
    await harness.clock.advance(15_000);
    expect((await harness.only('sync')).execution).toMatchObject({
      status: 'skipped',
      reason: 'precheck',
      message: 'check 1 failed: a bug',
    });
  });

  it('hands the run back at a drain, with nothing begun, also of a task that is not idempotent', async () => {
    checking(() => failed());
    const worker = await due({ ...HTTP, onFail: 'retry', retryCount: 100 });
    await harness.clock.advance(15_000);
    const stopped = worker.stop();
    await harness.clock.advance(31_000);
    await stopped;
    expect(await kinds()).toContain('handed_back');
    checking(succeeded);
    harness.worker('w-2').start();
    await harness.clock.advance(5000);
    const { execution } = await harness.only('sync');
    expect(execution).toMatchObject({ status: 'success', attempt: 1, worker: 'w-2' });
    expect(runs()).toHaveLength(1);
  });

  it('is asked anew when its worker has died, since nothing had begun', async () => {
    checking(() => failed());
    const worker = await due({ ...HTTP, onFail: 'retry', retryCount: 100 });
    await harness.clock.advance(15_000);
    worker.crash();
    checking(succeeded);
    harness.worker('w-2').start();
    await harness.clock.advance(60_000);
    expect((await harness.only('sync')).execution).toMatchObject({ status: 'success', worker: 'w-2' });
    expect(runs()).toHaveLength(1);
  });

  it('ends with its run when that is cancelled', async () => {
    checking((_, signal) => harness.executor.lasting(60_000)({} as never, signal));
    await due(HTTP);
    await harness.clock.advance(12_000);
    const { event } = (await harness.only('sync')).execution;
    const verdict = buildReport({ executionId: event.id, taskId: 'sync', status: 'skipped' });
    await harness.broker.stops.cancel(
      { ...event, executionId: event.id },
      { begun: verdict, unbegun: verdict },
    );
    await harness.clock.advance(1000);
    expect((await harness.only('sync')).execution).toMatchObject({
      status: 'skipped',
      reason: 'cancelled',
      message: 'cancelled before it began',
      worker: 'w-1',
    });
    expect(runs()).toEqual([]);
  });

  it('is not asked again once attempt 1 has begun', async () => {
    const policy = { ...DEFAULT_POLICY, isIdempotent: true, retryCount: 3, retryIntervalSec: 10 };
    const worker = await due(HTTP, { policy });
    harness.executor.script = (request, signal) =>
      request.hook === undefined ? harness.executor.lasting(40_000)(request, signal) : succeeded();
    await harness.clock.advance(15_000);
    expect([checks().length, runs().length]).toEqual([1, 1]);
    worker.crash();
    harness.worker('w-2').start();
    await harness.clock.advance(90_000);
    expect(checks()).toHaveLength(1);
    expect(runs().map(({ request }) => request.attempt)).toEqual([1, 2]);
    expect((await harness.only('sync')).execution.status).toBe('success');
  });

  it('has said go to a run that is not idempotent, whose worker then dies: it is not run again', async () => {
    const worker = await due(HTTP);
    harness.executor.script = (request, signal) =>
      request.hook === undefined ? harness.executor.lasting(20_000)(request, signal) : succeeded();
    await harness.clock.advance(12_000);
    expect(runs()).toHaveLength(1);
    worker.crash();
    harness.worker('w-2').start();
    await harness.clock.advance(60_000);
    expect((await harness.only('sync')).execution).toMatchObject({
      status: 'fail',
      reason: 'outcome_unknown',
    });
    expect(runs()).toHaveLength(1);
  });

  it('lets nothing begin before the queue knows that the run begins', async () => {
    const worker = await due(HTTP);
    checking(() => {
      worker.redis.state = 'cut';
      return succeeded();
    });
    await harness.clock.advance(13_000);
    expect([checks().length, runs().length]).toEqual([1, 0]);
    worker.redis.state = 'passing';
    await harness.clock.advance(10_000);
    expect(runs()).toHaveLength(1);
    expect((await harness.only('sync')).execution.status).toBe('success');
  });

  describe('that waits for another task', () => {
    const ended = (overrides: Partial<LastOutcome> = {}): LastOutcome => ({
      status: 'success',
      slot: BASE,
      finishedAt: SLOT - 30_000,
      ...overrides,
    });

    it.each([
      ['success in time', ended(), 'success', null],
      ['a success at the last moment', ended({ finishedAt: SLOT - 60_000 }), 'success', null],
      [
        'a success too long ago',
        ended({ finishedAt: SLOT - 61_000 }),
        'skipped',
        'check 1 failed: the last run of task load ended as success 61 s ago, which is more than 60 s',
      ],
      [
        'a failure',
        ended({ status: 'timeout' }),
        'skipped',
        'check 1 failed: the last run of task load ended as timeout 30 s ago',
      ],
      [
        'nothing',
        null,
        'skipped',
        'check 1 failed: no run of task load is known: it never ran, or there is no such task',
      ],
    ] as const)('and finds %s', async (_, outcome, status, message) => {
      if (outcome !== null) await harness.broker.lastOutcomes.note([{ taskId: 'load', outcome }]);
      await due(AFTER_LOAD);
      await harness.clock.advance(15_000);
      const { execution } = await harness.only('sync');
      expect(execution).toMatchObject({ status, message });
      expect(runs()).toHaveLength(status === 'success' ? 1 : 0);
      if (status === 'skipped')
        expect(execution.evidence).toMatchObject({ checked_task_id: 'load', within_sec: 60 });
    });

    it('sees what that task comes to meanwhile', async () => {
      await due({ ...AFTER_LOAD, onFail: 'retry' });
      await harness.clock.advance(15_000);
      const outcome = ended({ slot: SLOT, finishedAt: SLOT + 5000 });
      await harness.broker.lastOutcomes.note([{ taskId: 'load', outcome }]);
      await harness.clock.advance(20_000);
      expect((await harness.only('sync')).execution).toMatchObject({
        status: 'success',
        startedAt: SLOT + 20_000,
      });
    });

    it('decides nothing while the queue is away', async () => {
      const worker = await due(AFTER_LOAD);
      await harness.broker.lastOutcomes.note([{ taskId: 'load', outcome: ended({ finishedAt: SLOT }) }]);
      worker.redis.before = (method) => {
        if (method === 'read' && harness.clock.now() < SLOT + 3000) throw new Error('away');
      };
      await harness.clock.advance(12_000);
      expect((await harness.only('sync')).execution.status).toBe('pending');
      await harness.clock.advance(3000);
      expect((await harness.only('sync')).execution.status).toBe('success');
    });
  });
});
