import { exclusionEvidence, exclusionWords } from '../../domain/calendar-words.js';
import { type ExecutionReport } from '../../domain/execution.js';
import { messageOf } from '../../domain/errors.js';
import { fireAt } from '../../domain/jitter.js';
import { decideDue, type SkippedRange } from '../../domain/misfire.js';
import { FireTimes } from '../../domain/schedule.js';
import { type BrokenTask, isBroken, type Task } from '../../domain/task.js';
import { TaskSlots } from '../../domain/timetable.js';
import { type TriggerEvent, triggerWindow } from '../../domain/trigger.js';
import { type Ids } from '../../ports/ids.js';
import { type Tracer } from '../../ports/tracer.js';
import { type DecidedBatch } from '../../ports/trigger-repo.js';
import { owing } from '../owing.js';
import { type Backlog } from './backlog.js';
import { coordinatorVerdict } from './coordinator-verdict.js';

/** How long a task that cannot be decided is left alone before it is tried again. */
const BROKEN_HOLD_MS = 60_000;

interface BatchContext {
  readonly now: number;
  readonly node: string;
  readonly queueEpoch: string;
  readonly ids: Ids;
  readonly tracer: Tracer;
  readonly backlog: Pick<Backlog, 'holdUntil'>;
  /** Whether there is time for one more task; asked before each but the first. */
  readonly hasTime: () => boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K] };

/**
 * Decides the due tasks of a batch, in their order, and changes nothing. A task that cannot be decided becomes an error of its own and
 * stops nothing else. When time is up the rest stays due.
 */
export function decideBatch(due: readonly (Task | BrokenTask)[], context: BatchContext): DecidedBatch {
  const batch: Mutable<DecidedBatch> = { fired: [], skipped: [], advances: [], errors: [] };
  const times = new FireTimes();
  for (const [i, task] of due.entries()) {
    if (i > 0 && !context.hasTime()) break;
    try {
      if (isBroken(task)) throw new Error(task.error);
      decideOne(task, times, context, batch);
    } catch (error) {
      batch.errors.push({
        taskId: task.id,
        error: messageOf(error),
        holdUntil: context.now + BROKEN_HOLD_MS,
      });
    }
  }
  return batch;
}

function decideOne(task: Task, times: FireTimes, context: BatchContext, batch: Mutable<DecidedBatch>): void {
  const cursor = task.nextTriggerTime;
  if (cursor === null) throw new Error('next_trigger_time is empty');
  const slots = new TaskSlots(task, times);
  const heldUntil = context.backlog.holdUntil(task, fireAt(slots, task.id, cursor), context.now);
  if (heldUntil !== null) {
    batch.advances.push({ taskId: task.id, nextSlot: cursor, holdUntil: heldUntil });
    return;
  }
  const decision = decideDue({ taskId: task.id, slots, policy: task.policy, cursor, now: context.now });
  if (decision.skipped !== null) {
    const windowStart = fireAt(slots, task.id, decision.skipped.from);
    const event = eventOf(task, decision.skipped.from, windowStart, false, decision.skipped, context);
    const report = skipReport(event, decision.skipped, task, slots);
    batch.skipped.push({ event, report: owing(report, task) });
  }
  if (decision.fire !== null) {
    const { slot, isMisfire } = decision.fire;
    const event = eventOf(task, slot, fireAt(slots, task.id, slot), isMisfire, null, context);
    batch.fired.push({ event, task });
  }
  batch.advances.push({ taskId: task.id, nextSlot: decision.nextSlot, holdUntil: decision.holdUntil });
}

function eventOf(
  task: Task,
  slot: number,
  windowStart: number,
  isMisfire: boolean,
  range: SkippedRange | null,
  { now, node, queueEpoch, ids, tracer }: BatchContext,
): TriggerEvent {
  const window = triggerWindow(windowStart, task.policy.windowSec);
  return {
    id: ids.next(),
    taskId: task.id,
    kind: 'schedule',
    slot,
    windowStart: window.start,
    windowEnd: window.end,
    firedAt: now,
    node,
    isMisfire: isMisfire || range?.reason === 'misfire',
    rangeEnd: range === null || range.to === range.from ? null : range.to,
    traceparent: tracer.start(null),
    queueEpoch,
  };
}

function skipReport(
  event: TriggerEvent,
  { reason, ...range }: SkippedRange,
  task: Task,
  slots: TaskSlots,
): ExecutionReport {
  const exclusion = reason === 'calendar' ? slots.exclusionOf(range.from) : null;
  if (exclusion !== null) {
    return coordinatorVerdict(event, {
      status: 'skipped',
      reason,
      message: exclusionWords(exclusion),
      detail: { ...range, ...exclusionEvidence(exclusion) },
    });
  }
  const policy = task.policy.misfirePolicy;
  return coordinatorVerdict(event, {
    status: 'skipped',
    reason,
    message: `missed slots not made up for (${range.slots ?? 'many'}): policy ${policy}`,
    detail: { ...range, policy },
  });
}
