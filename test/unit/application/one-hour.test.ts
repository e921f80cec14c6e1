import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_CRON } from '../../../src/domain/cron.js';
import { type Execution } from '../../../src/domain/execution.js';
import { DEFAULT_POLICY } from '../../../src/domain/policy.js';
import { type Task } from '../../../src/domain/task.js';
import { type ExecutorRequest } from '../../../src/ports/executor.js';
import { BASE, buildTask } from '../../support/builders.js';
import { type CoordinatorNode } from '../../support/coordinator-node.js';
import { total, valuesOf } from '../../support/measured.js';
import { every, NodeHarness } from '../../support/node-harness.js';
import { failed, ScriptedExecutor, type ScriptedCall, succeeded } from '../../support/scripted-executor.js';
import { type WorkerNode } from '../../support/worker-node.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Prime numbers make the tasks meet in ever other company. */
const INTERVALS = [5, 7, 11, 13, 17, 23, 31, 41, 60, 61, 97, 120, 127, 300, 601, 900, 1800, 3600];
const MINUTES = [1, 2, 5, 10, 15, 20, 30];

/** A task and the slots that it has within the hour, counted here and not by ax. */
interface Expected {
  readonly task: Task;
  readonly slots: readonly number[];
}

const slotsEvery = (seconds: number): number[] =>
  Array.from({ length: Math.floor(3600 / seconds) }, (_, i) => BASE + (i + 1) * seconds * SECOND);

function intervalTask(i: number): Expected {
  const seconds = INTERVALS[i % INTERVALS.length] ?? 60;
  const isIdempotent = i % 3 !== 0;
  const policy = { ...DEFAULT_POLICY, isIdempotent, maxConcurrent: 20, retryCount: isIdempotent ? 2 : 0 };
  const schedule = { type: 'interval', everySec: seconds, anchorAt: BASE, startAt: null } as const;
  const task = every(seconds, {
    id: `interval-${i}`,
    schedule: { ...schedule, endAt: BASE + HOUR, jitterSec: 0 },
    policy,
  });
  return { task, slots: slotsEvery(seconds) };
}

function cronTask(i: number): Expected {
  const minutes = MINUTES[i % MINUTES.length] ?? 1;
  const slots = slotsEvery(minutes * 60);
  const policy = { ...DEFAULT_POLICY, isIdempotent: true, maxConcurrent: 5, retryCount: 2 };
  const bounds = { startAt: null, endAt: BASE + HOUR, jitterSec: 0 };
  const schedule = {
    type: 'cron',
    expr: `*/${minutes} * * * *`,
    timezone: 'UTC',
    ...DEFAULT_CRON,
    ...bounds,
  } as const;
  return { task: buildTask({ id: `cron-${i}`, schedule, policy, nextTriggerTime: slots[0] ?? null }), slots };
}

describe('An hour of fifty tasks on two coordinators and two workers, one of each of which dies', () => {
  const expected = [
    ...Array.from({ length: 36 }, (_, i) => intervalTask(i)),
    ...Array.from({ length: 14 }, (_, i) => cronTask(i)),
  ];
  const isIdempotent = (taskId: string) =>
    expected.find(({ task }) => task.id === taskId)?.task.policy.isIdempotent;
  let harness: NodeHarness;
  let survivor: CoordinatorNode;
  let heir: WorkerNode;
  /** Of both workers. */
  let calls: ScriptedCall[];
  /** Events that the dead leader had committed and not published. */
  let unpublished: number;
  /** What the dead worker had begun and not ended. */
  let abandoned: ExecutorRequest[];
  let executions: Execution[];

  beforeAll(async () => {
    harness = await NodeHarness.open();
    await harness.add(...expected.map(({ task }) => task));
    const executors = [startExecutor(), startExecutor()] as const;
    const options = (i: 0 | 1) => ({ executors: new Map([['http', executors[i]]]), concurrency: 12 });
    const mortal = harness.worker('worker-1', options(0)).start();
    heir = harness.worker('worker-2', options(1)).start();
    const coordinators = [harness.coordinator('coordinator-1'), harness.coordinator('coordinator-2')];
    for (const coordinator of coordinators) coordinator.start();

    await harness.clock.advance(20 * MINUTE - 1);
    const [leader, standby] = coordinators.toSorted((a) => (a.leadership.isCurrent() ? -1 : 1));
    if (leader === undefined || standby === undefined) throw new Error('nobody leads');
    survivor = standby;
    leader.redis.before = (method) => {
      if (method === 'publish') leader.crash();
    };
    await harness.clock.advance(5 * SECOND);
    const states = await harness.broker.queue.states((await harness.all()).map(({ event }) => event));
    unpublished = states.filter((state) => state === 'unknown').length;

    await harness.clock.advance(20 * MINUTE);
    const begun = () =>
      executors[0].calls.filter(({ outcome }) => outcome === null).map(({ request }) => request);
    const isUnsafe = ({ taskId }: ExecutorRequest) => isIdempotent(taskId) === false;
    while (!begun().some(isUnsafe) || begun().every(isUnsafe)) await harness.clock.advance(50);
    mortal.crash();
    abandoned = begun();

    await harness.clock.advance(BASE + 65 * MINUTE - harness.clock.now());
    executions = await harness.all();
    calls = executors.flatMap((executor) => executor.calls);
  }, 240_000);

  /** Takes up to 3.5 s; some first attempts fail. */
  function startExecutor(): ScriptedExecutor {
    const executor = new ScriptedExecutor(harness.clock);
    executor.script = (request, signal) => {
      const number = request.slot / SECOND + request.taskId.length;
      const outcome = number % 11 === 0 && request.attempt === 1 ? failed() : succeeded();
      return executor.lasting((1 + (number % 5)) * 700, outcome)(request, signal);
    };
    return executor;
  }
  afterAll(() => harness.close());

  it('has exactly one event for every slot, and none besides', () => {
    const keyOf = (taskId: string, slot: number) => `${taskId} ${(slot - BASE) / SECOND}`;
    const wanted = expected.flatMap(({ task, slots }) => slots.map((slot) => keyOf(task.id, slot)));
    const found = executions.map(({ event }) => keyOf(event.taskId, event.slot));
    expect(found.toSorted()).toEqual(wanted.toSorted());
    expect(executions.filter(({ event }) => event.rangeEnd !== null)).toEqual([]);
  });

  it('fired every slot within its window', () => {
    const late = executions.filter(({ event }) => event.firedAt > event.windowEnd || event.isMisfire);
    expect(late).toEqual([]);
    expect(valuesOf(survivor.metrics, 'trigger_lateness_seconds').filter((sec) => sec > 0)).not.toEqual([]);
  });

  it('published what the dead leader had committed and not published', () => {
    expect(unpublished).toBeGreaterThan(10);
    expect(total(survivor.metrics, 'republished_total')).toBe(unpublished);
  });

  it('ended every idempotent run as success, also those that the dead worker had begun', () => {
    const runs = executions.filter(({ event }) => isIdempotent(event.taskId));
    expect(runs.length).toBeGreaterThan(2000);
    expect(runs.filter(({ status }) => status !== 'success')).toEqual([]);
    const begun = abandoned.filter(({ taskId }) => isIdempotent(taskId));
    expect(begun).not.toEqual([]);
    expect(total(heir.metrics, 'reclaims_total')).toBeGreaterThanOrEqual(begun.length);
  });

  it('ran nothing twice that is not idempotent, and says of which runs it cannot know', () => {
    const runs = executions.filter(({ event }) => !isIdempotent(event.taskId));
    const begun = calls.map(({ request }) => request).filter(({ taskId }) => !isIdempotent(taskId));
    expect(begun.map(({ executionId }) => executionId).toSorted()).toEqual(
      runs.map(({ event }) => event.id).toSorted(),
    );
    const unknown = runs.filter(({ reason }) => reason === 'outcome_unknown').map(({ event }) => event.id);
    const lost = abandoned
      .filter(({ taskId }) => !isIdempotent(taskId))
      .map((request) => request.executionId);
    expect(unknown.toSorted()).toEqual(lost.toSorted());
    const others = runs.filter(({ reason }) => reason !== 'outcome_unknown');
    expect(new Set(others.map(({ status, reason }) => `${status} ${reason}`))).toEqual(
      new Set(['success null', 'fail http_status']),
    );
  });

  it('left nothing pending, running, queued or unread', async () => {
    expect(executions.filter(({ finishedAt }) => finishedAt === null)).toEqual([]);
    expect(calls.filter(({ outcome }) => outcome === null)).toEqual([]);
    expect(await harness.broker.queue.depth()).toBe(0);
    expect(await harness.broker.results.backlog()).toEqual({ depth: 0, oldestAgeMs: 0 });
  });
});
