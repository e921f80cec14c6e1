import { isTerminal } from '../execution.js';
import { type RecordedEvent } from '../recorded-run.js';
import { FireTimes } from '../schedule.js';
import { type Era, isScheduling, type TaskState } from '../task-history.js';
import { TaskSlots } from '../timetable.js';

/** The longest window that a policy can have. */
export const MAX_WINDOW_MS = 86_400_000;

/** What an instant is about: a recorded event, a slot of a definition without one, or neither. */
export type Subject =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'none' };

const NONE = { kind: 'none' } as const;

/**
 * The slot, or event, nearest to `at`: the latest one at or before it whose window, skipped range or run contains it. `last`: the last
 * event of the schedule with a slot at or before `at`.
 */
export function subjectOf(at: number, eras: readonly Era[], last: RecordedEvent | null): Subject {
  const slot = slotOpenAt(at, eras);
  if (slot !== null && (last === null || slot > (last.rangeEnd ?? last.slot))) return { kind: 'slot', slot };
  return last !== null && at <= endOf(last) ? { kind: 'event', event: last } : NONE;
}

/** Until when an event is what an instant is about. */
function endOf({ status, steps, firedAt, windowEnd, rangeEnd }: RecordedEvent): number {
  if (!isTerminal(status)) return Infinity;
  const finishedAt = steps.findLast(({ kind }) => kind === 'finished')?.at ?? firedAt;
  // A skipped range is decided long after its slots; between them and the decision nothing of it goes on.
  return Math.max(windowEnd, rangeEnd ?? finishedAt);
}

/** The latest slot, also of a disabled definition, whose window contains `at`. */
function slotOpenAt(at: number, eras: readonly Era[]): number | null {
  for (const era of [...eras].reverse()) {
    if (era.since > at || !isKnown(era)) continue;
    if (era.until <= at - MAX_WINDOW_MS) return null;
    const slot = lastIn(era, at);
    if (slot !== null && slot + era.state.policy.windowSec * 1000 >= at) return slot;
  }
  return null;
}

/** The last slot at or before `at` that an enabled definition had; null if there is none. */
export function slotBefore(at: number, eras: readonly Era[]): number | null {
  for (const era of [...eras].reverse()) {
    if (era.since > at || !isScheduling(era)) continue;
    const slot = lastIn(era, at);
    if (slot !== null) return slot;
  }
  return null;
}

/** The first slot after `at` that an enabled definition has; null if there is none. */
export function slotAfter(at: number, eras: readonly Era[]): number | null {
  for (const era of eras) {
    if (era.until <= at || !isScheduling(era)) continue;
    const slot = new TaskSlots(era.state, new FireTimes()).next(Math.max(at, era.since - 1));
    if (slot !== null && slot < era.until) return slot;
  }
  return null;
}

function lastIn(era: Era & { readonly state: TaskState }, at: number): number | null {
  const slot = new TaskSlots(era.state, new FireTimes()).previous(Math.min(at, era.until - 1));
  return slot !== null && slot >= era.since ? slot : null;
}

/** Whether what the task was then can be told, and it was there. */
export const isKnown = (era: Era | undefined): era is Era & { readonly state: TaskState } =>
  era !== undefined && typeof era.state !== 'string';
