import { DEFAULT_CRON } from '../../src/domain/cron.js';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { NO_HOOKS } from '../../src/domain/hooks.js';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { type Task } from '../../src/domain/task.js';
import { triggerWindow, type TriggerEvent } from '../../src/domain/trigger.js';
import { type QueueMessage, type TaskSnapshot } from '../../src/ports/queue.js';

/** 2026-01-05T00:00:00Z, a Monday: the instant around which built values lie. */
export const BASE = Date.UTC(2026, 0, 5);

let counter = 0;
const nextNumber = (): number => (counter += 1);

/** A UUID of version 7 that no other call in this process returns; later calls give greater ones. */
export const nextUuid = (): string =>
  `019b8b3a-3000-7000-8000-${nextNumber().toString(16).padStart(12, '0')}`;

/** An enabled hourly HTTP task with default policy. */
export function buildTask(overrides: Partial<Task> = {}): Task {
  const id = overrides.id ?? `task-${nextNumber()}`;
  return {
    id,
    name: `Task ${id}`,
    group: 'default',
    schedule: {
      type: 'cron',
      expr: '0 * * * *',
      timezone: 'UTC',
      ...DEFAULT_CRON,
      startAt: null,
      endAt: null,
      jitterSec: 0,
    },
    executor: {
      type: 'http',
      url: 'http://127.0.0.1:9/run',
      method: 'POST',
      headers: {},
      ack: 'response',
      signature: null,
    },
    params: { size: 1 },
    policy: DEFAULT_POLICY,
    hooks: NO_HOOKS,
    pool: 'default',
    labels: {},
    owner: null,
    isEnabled: true,
    former: [],
    nextTriggerTime: BASE + 3_600_000,
    version: 1,
    error: null,
    createdAt: BASE,
    updatedAt: BASE,
    ...overrides,
  };
}

/** An event of its own task and slot, fired on time. */
export function buildEvent(overrides: Partial<TriggerEvent> = {}): TriggerEvent {
  const slot = overrides.slot ?? BASE + nextNumber() * 1000;
  const window = triggerWindow(slot, DEFAULT_POLICY.windowSec);
  return {
    id: nextUuid(),
    taskId: `task-${nextNumber()}`,
    kind: 'schedule',
    slot,
    windowStart: window.start,
    windowEnd: window.end,
    firedAt: slot + 12,
    node: 'coordinator-1',
    isMisfire: false,
    rangeEnd: null,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    queueEpoch: 'epoch-1',
    ...overrides,
  };
}

/** What the queue carries of a task. */
export const snapshotOf = (task: Task): TaskSnapshot => ({
  id: task.id,
  name: task.name,
  group: task.group,
  executor: task.executor,
  params: task.params,
  policy: task.policy,
  hooks: task.hooks,
  pool: task.pool,
});

/** A first publish; its task is the event's, with the default policy, in pool `default`. */
export function buildMessage(overrides: Partial<QueueMessage> = {}): QueueMessage {
  const event = overrides.event ?? buildEvent(overrides.task ? { taskId: overrides.task.id } : {});
  return {
    event,
    task: snapshotOf(buildTask({ id: event.taskId })),
    queueEpoch: event.queueEpoch,
    generationFloor: 0,
    publishedAt: event.firedAt + 3,
    ...overrides,
  };
}

/** The first attempt of a first claim has started. */
export function buildReport(overrides: Partial<ExecutionReport> = {}): ExecutionReport {
  return {
    executionId: nextUuid(),
    taskId: `task-${nextNumber()}`,
    generation: 1,
    seq: 1,
    status: 'running',
    reason: null,
    message: null,
    worker: 'worker-1',
    attempt: 1,
    startedAt: BASE,
    finishedAt: null,
    evidence: {},
    entry: { kind: 'attempt_started', at: BASE, node: 'worker-1', detail: { attempt: 1 } },
    ...overrides,
  };
}
