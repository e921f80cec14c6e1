import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Cancellation,
  CancelExecution,
} from '../../../../src/application/executions/cancel-execution.js';
import { DEFAULT_POLICY, type Policy } from '../../../../src/domain/policy.js';
import { Sha256TokenHash } from '../../../../src/adapters/system/sha256-token-hash.js';
import { type HttpExecutorSpec } from '../../../../src/domain/executors/http-spec.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { every, NodeHarness } from '../../../support/node-harness.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';
import { total } from '../../../support/measured.js';
import { failed } from '../../../support/scripted-executor.js';

const ALICE = { name: 'alice', traceparent: null };

describe('CancelExecution', () => {
  let harness: NodeHarness;
  let metrics: RecordingMetrics;
  let cancelExecution: CancelExecution;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    metrics = new RecordingMetrics();
    const { tasks, executions, audit, clock } = harness;
    cancelExecution = new CancelExecution({
      tasks,
      executions,
      stops: {
        cancel: (...args) => harness.broker.stops.cancel(...args),
        subscribe: (listener) => harness.broker.stops.subscribe(listener),
      },
      receipts: { close: (...args) => harness.broker.receipts.close(...args) },
      audit,
      clock,
      metrics,
      logger: new RecordingLogger(),
      node: 'coordinator-1',
    });
  });
  afterEach(() => harness.close());

  const task = (slots: number, policy: Partial<Policy>) => {
    const times = { everySec: 10, anchorAt: BASE, startAt: null, endAt: BASE + slots * 10_000, jitterSec: 0 };
    const schedule = { type: 'interval', ...times } as const;
    return every(10, { id: 'report', schedule, policy: { ...DEFAULT_POLICY, ...policy } });
  };
  /** One task with one slot in ten seconds, and what becomes of it until `afterMs` past the slot. */
  async function due(policy: Partial<Policy>, afterMs = 1000): Promise<string> {
    await harness.add(task(1, policy));
    await harness.clock.advance(10_000 + afterMs);
    return (await harness.only()).execution.event.id;
  }
  async function cancel(id: string, withinMs = 6000): Promise<Cancellation> {
    const coming = cancelExecution.cancel(id, ALICE);
    await harness.clock.advance(withinMs);
    return coming;
  }
  const stateOf = async () => {
    const { status, reason } = (await harness.only()).execution;
    return { status, reason };
  };

  it('lets no receipt in any more for a run whose worker is gone', async () => {
    harness.coordinator('coordinator').start();
    const worker = harness.worker('worker').start();
    harness.executor.script = () => ({ status: 'delivered', evidence: {} });
    const executor = { ...buildTask().executor, ack: 'receipt' } as HttpExecutorSpec;
    await harness.add({ ...task(1, { timeoutSec: 3600 }), executor });
    await harness.clock.advance(11_000);
    const id = (await harness.only()).execution.event.id;
    const token = harness.executor.calls[0]?.request.receipt?.token ?? '';
    worker.crash();
    await harness.clock.advance(60_000);
    expect(await cancel(id)).toMatchObject({ result: 'cancelled', execution: { status: 'fail' } });
    const receipt = { kind: 'success', message: null } as const;
    const hash = new Sha256TokenHash().of(token);
    expect(await harness.broker.receipts.post(id, hash, receipt)).toBe('late');
  });

  it('refuses what is no execution', async () => {
    await expect(cancelExecution.cancel('nothing', ALICE)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('ends a queued run that nobody has taken, before it began, and says who did it', async () => {
    harness.coordinator('coordinator').start();
    const id = await due({});
    const { result, execution } = await cancel(id);
    expect(result).toBe('cancelled');
    expect(execution).toMatchObject({
      status: 'skipped',
      reason: 'cancelled',
      message: 'cancelled by alice',
      attempt: 0,
      startedAt: null,
    });
    expect(await harness.audit.list({ subject: id, limit: 5 })).toMatchObject([
      {
        actor: 'alice',
        action: 'execution.cancel',
        before: { task_id: 'report', status: 'pending' },
        after: null,
      },
    ]);
    expect(total(metrics, 'executions_total', { status: 'skipped', reason: 'cancelled' })).toBe(1);
    harness.worker('worker').start();
    await harness.clock.advance(60_000);
    expect(harness.executor.calls).toEqual([]);
  });

  it('ends a run that was never published, and recovery does not bring it back', async () => {
    const node = harness.coordinator('coordinator');
    node.redis.before = (method) => {
      if (method === 'publish') throw new Error('it dies before it publishes');
    };
    node.start();
    const id = await due({}, 100);
    expect((await cancel(id)).result).toBe('cancelled');
    node.redis.before = () => undefined;
    harness.worker('worker').start();
    await harness.clock.advance(60_000);
    expect(harness.executor.calls).toEqual([]);
    expect(await stateOf()).toEqual({ status: 'skipped', reason: 'cancelled' });
  });

  it('stops a run at once, wherever it runs, and a late success changes nothing', async () => {
    harness.coordinator('coordinator').start();
    harness.worker('worker-1').start();
    harness.executor.script = harness.executor.lasting(100_000);
    const id = await due({ timeoutSec: 3600 });
    expect(harness.executor.running).toBe(1);
    const { result, execution } = await cancel(id, 1000);
    expect(result).toBe('cancelled');
    expect(execution).toMatchObject({ status: 'fail', reason: 'cancelled', attempt: 1, worker: 'worker-1' });
    expect(harness.executor.running).toBe(0);
    expect(total(metrics, 'executions_total')).toBe(0); // Its worker has counted it.
    await harness.clock.advance(100_000);
    expect(await stateOf()).toEqual({ status: 'fail', reason: 'cancelled' });
  });

  it('stops a run whose worker did not hear the news by its next heartbeat', async () => {
    harness.coordinator('coordinator').start();
    harness.broker.stops.subscribe = () => () => undefined;
    harness.worker('worker-1').start();
    harness.executor.script = harness.executor.lasting(100_000);
    const id = await due({ timeoutSec: 3600 });
    expect((await cancel(id)).result).toBe('cancelled');
  });

  it('ends a run between two attempts', async () => {
    harness.coordinator('coordinator').start();
    harness.worker('worker-1').start();
    harness.executor.script = () => failed();
    const id = await due({ isIdempotent: true, retryCount: 3, retryIntervalSec: 60 });
    expect(await stateOf()).toMatchObject({ status: 'retrying' });
    expect((await cancel(id, 1000)).execution).toMatchObject({
      status: 'fail',
      reason: 'cancelled',
      attempt: 1,
    });
    await harness.clock.advance(100_000);
    expect(harness.executor.calls).toHaveLength(1);
  });

  it('ends a run that waits its turn', async () => {
    harness.coordinator('coordinator').start();
    harness.worker('worker-1').start();
    harness.executor.script = harness.executor.lasting(60_000);
    await harness.add(task(2, { overlapPolicy: 'queue', timeoutSec: 3600 }));
    await harness.clock.advance(21_000);
    const [, waiting] = await harness.all();
    if (waiting === undefined) throw new Error('nothing waits');
    expect(await harness.broker.queue.states([waiting.event])).toEqual(['waiting']);
    const ledger = (await harness.executions.find(waiting.event.id))?.ledger ?? [];
    expect(ledger.map(({ kind }) => kind)).toEqual(['triggered', 'waiting']);
    const { result, execution } = await cancel(waiting.event.id);
    expect([result, execution.status, execution.reason]).toEqual(['cancelled', 'skipped', 'cancelled']);
    expect(harness.executor.calls).toHaveLength(1);
  });

  it('asks a worker that has died, and ends the run once its claim has died, too', async () => {
    harness.coordinator('coordinator').start();
    const worker = harness.worker('worker-1').start();
    harness.executor.script = harness.executor.lasting(100_000);
    const id = await due({ timeoutSec: 3600 });
    worker.crash();
    expect((await cancel(id)).result).toBe('requested');
    await harness.clock.advance(15_000);
    const { result, execution } = await cancel(id);
    expect(result).toBe('cancelled');
    expect(execution).toMatchObject({ status: 'fail', reason: 'cancelled', attempt: 1 });
  });

  it('is obeyed by the next worker after the death of the first', async () => {
    harness.coordinator('coordinator').start();
    const worker = harness.worker('worker-1').start();
    harness.executor.script = harness.executor.lasting(100_000);
    const id = await due({ timeoutSec: 3600, isIdempotent: true });
    worker.crash();
    expect((await cancel(id)).result).toBe('requested');
    harness.worker('worker-2').start();
    await harness.clock.advance(30_000);
    expect(await stateOf()).toEqual({ status: 'fail', reason: 'cancelled' });
    expect(harness.executor.calls).toHaveLength(1);
  });

  it('changes nothing that has ended, and says how', async () => {
    harness.coordinator('coordinator').start();
    harness.worker('worker-1').start();
    const id = await due({});
    const { result, execution } = await cancelExecution.cancel(id, ALICE);
    expect([result, execution.status]).toEqual(['already_ended', 'success']);
    expect(await harness.audit.list({ subject: id, limit: 5 })).toEqual([]);
    expect(execution.event.slot).toBe(BASE + 10_000);
  });

  it('says requested when the end is not recorded in time', async () => {
    const node = harness.coordinator('coordinator').start('loop');
    const id = await due({});
    expect(await cancel(id)).toMatchObject({ result: 'requested', execution: { status: 'pending' } });
    node.start('collector');
    await harness.clock.advance(1000);
    expect(await stateOf()).toEqual({ status: 'skipped', reason: 'cancelled' });
  });
});
