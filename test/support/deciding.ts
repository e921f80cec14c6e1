import { isBroken, type BrokenTask, type Task } from '../../src/domain/task.js';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { type DecidedBatch } from '../../src/ports/trigger-repo.js';
import { buildEvent } from './builders.js';

export const HOUR_MS = 3_600_000;
/** Later than any test looks. */
export const HELD_UNTIL = Date.UTC(2100, 0, 1);

/** The event of a task's undecided slot. */
export const eventFor = (task: Task, overrides: Partial<TriggerEvent> = {}): TriggerEvent =>
  buildEvent({ taskId: task.id, slot: task.nextTriggerTime ?? 0, ...overrides });

/** Fires every task that can be read at its slot, and moves it one hour on; others become errors. */
export function fireAll(
  due: readonly (Task | BrokenTask)[],
  overrides: Partial<TriggerEvent> = {},
): DecidedBatch {
  const tasks = due.filter((task): task is Task => !isBroken(task));
  return {
    fired: tasks.map((task) => ({ task, event: eventFor(task, overrides) })),
    skipped: [],
    advances: tasks.map((task) => ({
      taskId: task.id,
      nextSlot: (task.nextTriggerTime ?? 0) + HOUR_MS,
      holdUntil: null,
    })),
    errors: due.filter(isBroken).map(({ id, error }) => ({ taskId: id, error, holdUntil: HELD_UNTIL })),
  };
}

/** The verdict on a slot that does not run. */
export const skipReport = (event: TriggerEvent): ExecutionReport => ({
  executionId: event.id,
  taskId: event.taskId,
  generation: 0,
  seq: 0,
  status: 'skipped',
  reason: 'misfire',
  message: 'missed',
  worker: null,
  attempt: 0,
  startedAt: null,
  finishedAt: event.firedAt,
  evidence: {},
  entry: { kind: 'finished', at: event.firedAt, node: event.node, detail: { status: 'skipped' } },
});
