import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { W3cTracer } from '../../../../src/adapters/telemetry/w3c-tracer.js';
import { RunTask } from '../../../../src/application/tasks/run-task.js';
import { InvalidInput } from '../../../../src/domain/errors.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { Link } from '../../../support/link.js';
import { total } from '../../../support/measured.js';
import { NodeHarness } from '../../../support/node-harness.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';

const ALICE = { name: 'alice', traceparent: null };

describe('RunTask', () => {
  let harness: NodeHarness;
  let redis: Link;
  let metrics: RecordingMetrics;
  let logger: RecordingLogger;
  let runTask: RunTask;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    redis = new Link();
    metrics = new RecordingMetrics();
    logger = new RecordingLogger();
    const { tasks, triggers, clock, ids } = harness;
    const queue = redis.to(() => harness.broker.queue);
    const tracer = new W3cTracer();
    runTask = new RunTask({ tasks, triggers, queue, tracer, clock, ids, metrics, logger, node: 'node-1' });
    await harness.add(buildTask({ id: 'report' }));
  });
  afterEach(() => harness.close());

  const run = (runKey: string | null = null) => runTask.run('report', { runKey }, ALICE);
  const runs = async () => {
    harness.worker('worker').start();
    harness.coordinator('coordinator').start();
    await harness.clock.advance(60_000);
    return (await harness.all()).map(({ status }) => status);
  };

  it('records a manual event with its audit entry, and publishes it', async () => {
    const { event, isNew } = await run();
    expect(isNew).toBe(true);
    expect(event).toMatchObject({
      taskId: 'report',
      kind: 'manual',
      slot: BASE,
      windowStart: BASE,
      windowEnd: BASE + 5000,
      firedAt: BASE,
      node: 'node-1',
      isMisfire: false,
      queueEpoch: 'life-1',
    });
    expect((await harness.only()).execution.event).toEqual(event);
    expect(await harness.audit.list({ subject: 'report', limit: 1 })).toMatchObject([
      { actor: 'alice', action: 'task.run', after: { execution_id: event.id, params: null } },
    ]);
    expect(await harness.broker.queue.states([event])).toEqual(['queued']);
    expect(total(metrics, 'triggers_total', { kind: 'manual' })).toBe(1);
    expect(await runs()).toEqual(['success']);
  });

  it('runs a disabled task, too', async () => {
    await harness.add(buildTask({ id: 'off', isEnabled: false, nextTriggerTime: null }));
    await runTask.run('off', { runKey: null }, ALICE);
    expect(await runs()).toEqual(['success']);
  });

  it('takes params for this run only', async () => {
    harness.worker('worker').start();
    await runTask.run('report', { runKey: null, params: { day: 'monday' } }, ALICE);
    await harness.clock.advance(1000);
    await run();
    await harness.clock.advance(1000);
    const params = harness.executor.calls.map(({ request }) => request.params);
    expect(params).toEqual([{ day: 'monday' }, { size: 1 }]);
  });

  it('continues the trace of its caller', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { event } = await runTask.run('report', { runKey: null }, { name: 'alice', traceparent });
    expect(event.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-(?!00f067aa0ba902b7)/);
  });

  it('makes one run of equal keys, and others of other keys and none', async () => {
    const first = await run('key-1');
    await harness.clock.advance(5000);
    expect(await run('key-1')).toEqual({ event: first.event, isNew: false });
    expect(total(metrics, 'triggers_total')).toBe(1);
    for (const key of ['key-2', null, null]) expect(await run(key)).toMatchObject({ isNew: true });
    expect(await harness.all()).toHaveLength(4);
    expect(await harness.broker.queue.depth()).toBe(4);
  });

  it('makes one run of equal keys that come at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => run('key-1')));
    expect(new Set(answers.map(({ event }) => event.id)).size).toBe(1);
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await harness.broker.queue.depth()).toBe(1);
  });

  it('answers with what it recorded when it could not publish it, and recovery does that', async () => {
    redis.before = (method) => {
      if (method === 'publish') redis.state = 'cut';
      if (method === 'publish') throw new Error('the queue is away');
    };
    const { event, isNew } = await run();
    expect(isNew).toBe(true);
    expect((await harness.only()).execution).toMatchObject({ event, status: 'pending' });
    expect(await harness.broker.queue.depth()).toBe(0);
    expect(logger.lines.at(-1)?.[2]).toContain('manual run recorded, not published yet');
    expect(await runs()).toEqual(['success']);
  });

  it('records nothing while the queue cannot be asked for its epoch', async () => {
    redis.state = 'cut';
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await harness.all()).toEqual([]);
  });

  it('refuses what is not there, what is broken, and params that are too long', async () => {
    await expect(runTask.run('nobody', { runKey: null }, ALICE)).rejects.toMatchObject({ code: 'not_found' });
    const long = { runKey: null, params: 'x'.repeat(70_000) };
    await expect(runTask.run('report', long, ALICE)).rejects.toBeInstanceOf(InvalidInput);
    await harness.query(`UPDATE task_meta SET executor_json = 'no'`);
    await expect(run()).rejects.toMatchObject({ code: 'conflict' });
    expect(await harness.all()).toEqual([]);
  });
});
