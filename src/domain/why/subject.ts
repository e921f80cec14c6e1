import { isTerminal } from '../execution.js';
import { fireAt } from '../jitter.js';
import { type RecordedEvent } from '../recorded-run.js';
import { FireTimes } from '../schedule.js';
import { type Era, isScheduling, type TaskState } from '../task-history.js';
import { TaskSlots } from '../timetable.js';
import { triggerWindow, type TriggerWindow } from '../trigger.js';

/** The longest jitter and the longest window together. */
export const MAX_REACH_MS = 2 * 86_400_000;

export type KnownEra = Era & { readonly state: TaskState };

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
export function subjectOf(
  taskId: string,
  at: number,
  eras: readonly Era[],
  last: RecordedEvent | null,
): Subject {
  const slot = slotOpenAt(taskId, at, eras);
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

/** The latest slot whose window, jitter included, contains `at`; of a disabled definition only while that is in force. */
function slotOpenAt(taskId: string, at: number, eras: readonly Era[]): number | null {
  for (const era of [...eras].reverse()) {
    if (era.since > at || !isKnown(era) || (!era.state.isEnabled && era.until <= at)) continue;
    if (era.until <= at - MAX_REACH_MS) return null;
    const slot = lastIn(era, at);
    if (slot !== null && windowOf(taskId, slot, era).end >= at) return slot;
  }
  return null;
}

/** The trigger window of a slot of a known definition. */
export function windowOf(taskId: string, slot: number, { state }: KnownEra): TriggerWindow {
  return triggerWindow(fireAt(new TaskSlots(state, new FireTimes()), taskId, slot), state.policy.windowSec);
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

/** The first slot after `at` that an enabled definition has and no calendar excludes; null if there is none. */
export function slotAfter(at: number, eras: readonly Era[]): number | null {
  for (const era of eras) {
    if (era.until <= at || !isScheduling(era)) continue;
    const slots = new TaskSlots(era.state, new FireTimes());
    const slot = slots.nextFiring(Math.max(at, era.since - 1), era.until - 1);
    if (slot !== null) return slot;
  }
  return null;
}

function lastIn(era: KnownEra, at: number): number | null {
  const slot = new TaskSlots(era.state, new FireTimes()).previous(Math.min(at, era.until - 1));
  return slot !== null && slot >= era.since ? slot : null;
}

/** Whether what the task was then can be told, and it was there. */
export const isKnown = (era: Era | undefined): era is KnownEra =>
  era !== undefined && typeof era.state !== 'string';
