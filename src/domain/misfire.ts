import { fireAt } from './jitter.js';
import { type Policy } from './policy.js';
import { type TaskSlots } from './timetable.js';

/** Slots skipped as one range, both ends inclusive, epoch ms: all of them were missed, or the calendar excludes all of them. */
export interface SkippedRange {
  readonly reason: 'misfire' | 'calendar';
  readonly from: number;
  readonly to: number;
  /** How many slots the range holds; null when there are too many to count. */
  readonly slots: number | null;
}

/** What to do with one due task: at most one slot fires per decision, so that a backlog is paced and never a burst. */
export interface DueDecision {
  readonly fire: { readonly slot: number; readonly isMisfire: boolean } | null;
  readonly skipped: SkippedRange | null;
  /** The next undecided slot; null at the end of the schedule. */
  readonly nextSlot: number | null;
  /** Until when `nextSlot` waits, epoch ms: it is due already, or its jitter makes it later; null when it fires at its time. */
  readonly holdUntil: number | null;
}

/** Gap between two late slots of one task. */
export const BACKLOG_PACE_MS = 200;

/**
 * Decides the slot at `cursor`, once its jitter has passed, and, if its window has passed, the missed slots up to now by the misfire policy.
 * Slots that the calendar excludes are skipped when they are due, and never missed; where they lie between missed ones, the decision ends
 * there and the next one goes on. Pure; the work is bounded however long the outage was.
 */
export function decideDue(input: {
  readonly taskId: string;
  readonly slots: TaskSlots;
  readonly policy: Policy;
  /** The oldest undecided slot; at or before `now`. */
  readonly cursor: number;
  readonly now: number;
}): DueDecision {
  const { slots, cursor, now } = input;
  if (fireAtOf(input, cursor) > now)
    return { fire: null, skipped: null, nextSlot: cursor, holdUntil: holdOf(input, cursor) };
  if (slots.exclusionOf(cursor) !== null) return leavingOut(input);
  const newestMissed = newestMissedSlot(input);
  if (newestMissed === null) return firing(input, cursor, false, null);

  const makeUp = slotToMakeUp(input, newestMissed);
  const excluded = slots.nextExcluded(cursor, makeUp ?? newestMissed);
  if (excluded !== null)
    return { fire: null, skipped: skippedBefore(input, excluded), nextSlot: excluded, holdUntil: null };
  if (makeUp !== null) return firing(input, makeUp, true, skippedBefore(input, makeUp));

  const skipped = rangeOf(input, cursor, newestMissed);
  const onTime = slots.next(newestMissed);
  if (onTime === null || fireAtOf(input, onTime) > now)
    return { fire: null, skipped, nextSlot: onTime, holdUntil: holdOf(input, onTime) };
  if (slots.exclusionOf(onTime) !== null) return { fire: null, skipped, nextSlot: onTime, holdUntil: null };
  return firing(input, onTime, false, skipped);
}

type Input = Parameters<typeof decideDue>[0];

const fireAtOf = ({ slots, taskId }: Input, slot: number): number => fireAt(slots, taskId, slot);

/** Skips the excluded slots that are due, from the cursor up to the next one that fires. */
function leavingOut({ slots, cursor, now }: Input): DueDecision {
  const firing = slots.nextFiring(cursor, now);
  const last = Math.max(cursor, slots.previous(firing === null ? now : firing - 1) ?? cursor);
  const skipped = { reason: 'calendar', from: cursor, to: last, slots: slots.count(cursor, last) } as const;
  return { fire: null, skipped, nextSlot: firing ?? slots.next(last), holdUntil: null };
}

/** The newest slot that fires and whose window has passed, from the cursor on; null if the cursor's own window is still open. */
function newestMissedSlot(input: Input): number | null {
  const { slots, policy, cursor, now } = input;
  const lastMissedInstant = now - policy.windowSec * 1000 - 1;
  if (fireAtOf(input, cursor) > lastMissedInstant) return null;
  const newest = slots.previousFiring(lastMissedInstant, cursor) ?? cursor;
  if (fireAtOf(input, newest) <= lastMissedInstant) return newest;
  return slots.previousFiring(newest - 1, cursor) ?? cursor;
}

/** The missed slot that the policy fires next, or null if it fires none. */
function slotToMakeUp(input: Input, newestMissed: number): number | null {
  switch (input.policy.misfirePolicy) {
    case 'skip':
      return null;
    case 'fire_once':
      return newestMissed;
    case 'catch_up':
      return oldestToCatchUp(input, newestMissed);
  }
}

/** The first missed slot that `misfire_limit` and `misfire_max_age_sec` still allow; null if all are too old. */
function oldestToCatchUp({ slots, policy, cursor, now }: Input, newestMissed: number): number | null {
  const notBefore = Math.max(cursor, now - policy.misfireMaxAgeSec * 1000);
  if (newestMissed < notBefore) return null;
  let oldest = newestMissed;
  for (let taken = 1; taken < policy.misfireLimit && oldest > cursor; taken++) {
    const earlier = slots.previousFiring(oldest - 1, cursor) ?? cursor;
    if (earlier < notBefore) break;
    oldest = earlier;
  }
  return oldest;
}

function skippedBefore(input: Input, slot: number): SkippedRange | null {
  if (slot <= input.cursor) return null;
  const last = input.slots.previous(slot - 1) ?? input.cursor;
  return rangeOf(input, input.cursor, Math.max(input.cursor, last));
}

function rangeOf({ slots }: Input, from: number, to: number): SkippedRange {
  return { reason: 'misfire', from, to, slots: slots.count(from, to) };
}

function firing(input: Input, slot: number, isMisfire: boolean, skipped: SkippedRange | null): DueDecision {
  const nextSlot = input.slots.next(slot);
  return { fire: { slot, isMisfire }, skipped, nextSlot, holdUntil: holdOf(input, nextSlot) };
}

/** A late slot waits for its turn, but one that is still on time never so long that it would become a misfire. */
function holdOf(input: Input, nextSlot: number | null): number | null {
  if (nextSlot === null) return null;
  const { policy, now } = input;
  const windowStart = fireAtOf(input, nextSlot);
  if (windowStart > now) return windowStart > nextSlot ? windowStart : null;
  const paced = now + BACKLOG_PACE_MS;
  const windowEnd = windowStart + policy.windowSec * 1000;
  return windowEnd < now ? paced : Math.max(now, Math.min(paced, windowEnd - BACKLOG_PACE_MS));
}
