import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CancelExecution } from '../../../src/application/executions/cancel-execution.js';
import { httpTarget, type PostHook } from '../../../src/domain/hooks.js';
import { DEFAULT_POLICY } from '../../../src/domain/policy.js';
import { type Task } from '../../../src/domain/task.js';
import { BASE } from '../../support/builders.js';
import { every, NodeHarness } from '../../support/node-harness.js';
import { RecordingLogger, RecordingMetrics } from '../../support/recording.js';
import { failed } from '../../support/scripted-executor.js';

const HOOK: PostHook = {
  on: 'always',
  target: httpTarget({ url: 'http://oncall/runs', method: 'POST', headers: {} }),
  retryCount: 0,
  retryIntervalSec: 10,
};

/** A post-hook is told of an end, whoever makes it. */
describe('A summary is owed for an execution that is ended', () => {
  let harness: NodeHarness;
  beforeEach(async () => void (harness = await NodeHarness.open()));
  afterEach(() => harness.close());

  const add = (overrides: Partial<Task> = {}) =>
    harness.add(every(10, { id: 'sync', hooks: { pre: null, post: HOOK }, ...overrides }));
  const owed = async () => {
    const now = harness.clock.now();
    const due = await harness.hooks.lease({ now, leaseMs: 1000, limit: 100 });
    return due.map(({ execution, hook, taskName }) => {
      expect([hook, taskName]).toEqual([HOOK, 'Task sync']);
      return [execution?.status, execution?.reason];
    });
  };

  it('by its worker', async () => {
    harness.executor.script = () => failed();
    await add();
    harness.coordinator('c-1').start();
    harness.worker('w-1').start();
    await harness.clock.advance(12_000);
    expect(await owed()).toEqual([['fail', 'http_status']]);
  });

  it('by a tick that skips missed slots', async () => {
    await add({ policy: { ...DEFAULT_POLICY, misfirePolicy: 'skip' } });
    await harness.clock.advance(39_000);
    await harness.coordinator('c-1').tick.turn();
    expect(await owed()).toEqual([['skipped', 'misfire']]);
  });

  it('by recovery, since the queue has lost it', async () => {
    harness.executor.script = harness.executor.lasting(30_000);
    await add();
    const coordinator = harness.coordinator('c-1').start();
    const worker = harness.worker('w-1').start();
    await harness.clock.advance(12_000);
    worker.crash();
    harness.loseQueue();
    await harness.tasks.update('sync', null, (current) => ({
      task: { ...(current as Task), isEnabled: false, nextTriggerTime: null },
      audit: { at: BASE, actor: 'test', action: 'task.toggle', subject: 'sync', before: null, after: null },
    }));
    await harness.clock.advance(60_000);
    await coordinator.stop();
    expect(await owed()).toContainEqual(['fail', 'outcome_unknown']);
  });

  it('by a cancel before anybody has taken it', async () => {
    await add();
    harness.coordinator('c-1').start();
    await harness.clock.advance(12_000);
    const { tasks, executions, audit, clock } = harness;
    const { stops, receipts } = harness.broker;
    const tools = { metrics: new RecordingMetrics(), logger: new RecordingLogger(), node: 'c-1' };
    const cancel = new CancelExecution({ tasks, executions, audit, clock, stops, receipts, ...tools });
    const { event } = (await harness.only()).execution;
    const coming = cancel.cancel(event.id, { name: 'alice', traceparent: null });
    await harness.clock.advance(6000);
    await coming;
    expect(await owed()).toEqual([['skipped', 'cancelled']]);
  });
});
