import { type Exclusion } from '../calendar-use.js';
import { exclusionEvidence, exclusionWords } from '../calendar-words.js';
import { ExpectedSlots } from '../expected-slots.js';
import { scheduleWords } from '../schedule-words.js';
import { FireTimes, type Schedule } from '../schedule.js';
import { type Era } from '../task-history.js';
import { TaskSlots } from '../timetable.js';
import { isKnown, type KnownEra, slotAfter, slotBefore, windowOf } from './subject.js';
import { type LiveFacts, type Say, type Why } from './why.js';

/** An instant that no event is recorded of. Instants are epoch ms. */
export interface SlotCase {
  readonly taskId: string;
  readonly at: number;
  /** The slot that `at` is about; null: none. */
  readonly slot: number | null;
  readonly eras: readonly Era[];
  readonly now: number;
  readonly say: Say;
  readonly live: LiveFacts;
  /** Why the task as stored cannot be triggered; null if it can. */
  readonly taskError: string | null;
}

/** Why there is no event: it was not due, or it was and has not been decided. */
export function explainSlot(slotCase: SlotCase): Why {
  const { at, slot, eras, say, taskError } = slotCase;
  const instant = slot ?? at;
  const index = eras.findIndex(({ since, until }) => since <= instant && instant < until);
  const era = eras[index];
  if (era?.state === 'absent') return absent(slotCase, index);
  if (isKnown(era) && !era.state.isEnabled) return disabled(slotCase, index);
  if (taskError !== null && era?.until === Infinity && (slot !== null || !isKnown(era)))
    return taskBroken(slotCase, taskError);
  if (!isKnown(era)) return unknown(slot, `${say(instant)}: ${era?.reason ?? 'nothing is recorded'}`);
  if (slot === null) return notDue(slotCase, era);
  const { start } = windowOf(slotCase.taskId, slot, era);
  const isToCome = start > slotCase.now;
  const exclusion = new TaskSlots(era.state, new FireTimes()).exclusionOf(slot);
  if (exclusion !== null && (isToCome || (isUndecided(slot, era) && era.until === Infinity)))
    return excluded(slotCase, slot, exclusion, isToCome);
  if (isToCome) return notDueYet(slotCase, slot, start);
  return withoutEvent(slotCase, slot, era);
}

const isUndecided = (slot: number, { undecidedSlot }: KnownEra): boolean =>
  undecidedSlot !== null && undecidedSlot <= slot;

function excluded({ say, eras }: SlotCase, slot: number, exclusion: Exclusion, isToCome: boolean): Why {
  const summary = `The slot of ${say(slot)} ${isToCome ? 'will not run' : 'does not run'}: ${exclusionWords(exclusion)}.`;
  const evidence = { ...exclusionEvidence(exclusion), slot_after: slotAfter(slot, eras) };
  return { code: 'calendar_excluded', slot, summary, evidence };
}

function withoutEvent(slotCase: SlotCase, slot: number, era: KnownEra): Why {
  const { taskId, eras, now, say } = slotCase;
  const expected = new ExpectedSlots(eras, slot, slot).peek();
  if (expected === null) {
    const next = eras.indexOf(era) + 1;
    const isOver = eras[next]?.state === 'absent' || isOff(eras[next]);
    return isUndecided(slot, era) && isOver ? givenUp(slotCase, slot, next) : notDue(slotCase, era);
  }
  const { start, end } = windowOf(taskId, slot, era);
  const evidence = {
    ...definition(era),
    window_start: start,
    window_end: end,
    next_trigger_time: era.undecidedSlot,
  };
  if (isUndecided(slot, era) && era.until === Infinity)
    return notDecided(slotCase, slot, { ...evidence, late_ms: now - start });
  if (expected.isDoubtful) return unknown(slot, `${say(slot)}: ${expected.withoutEvent}`, evidence);
  const summary = `The slot of ${say(slot)} was due and has neither an event nor a misfire verdict: ax lost it, or its rows were removed.`;
  return { code: 'missing', slot, summary, evidence };
}

/** The next definition schedules nothing, and owes nothing of what was undecided when it came. */
function givenUp(slotCase: SlotCase, slot: number, next: number): Why {
  const { eras, say } = slotCase;
  const why = eras[next]?.state === 'absent' ? absent(slotCase, next) : disabled(slotCase, next);
  const since = say(eras[next]?.since ?? Infinity);
  return {
    ...why,
    summary: `The slot of ${say(slot)} was not decided yet when the task was ${why.code} at ${since}, so it was given up.`,
  };
}

function notDecided(
  { say, live }: SlotCase,
  slot: number,
  evidence: Why['evidence'] & { readonly late_ms: number },
): Why {
  const { queue } = live;
  const late = `due for ${Math.round(evidence.late_ms / 1000)} s and not triggered`;
  if (queue !== null && queue.depth > queue.limit) {
    const summary = `The slot of ${say(slot)} is ${late}: dispatch is paused, as the queue holds ${queue.depth} messages and AX_QUEUE_LIMIT is ${queue.limit}.`;
    return { code: 'dispatch_paused', slot, summary, evidence };
  }
  const asked =
    queue === null ? ' Whether dispatch is paused cannot be told, as the queue did not answer.' : '';
  const summary = `The slot of ${say(slot)} is ${late}: no coordinator leads, it cannot reach the store, or slots before it are caught up first.${asked}`;
  return { code: 'not_decided', slot, summary, evidence };
}

function taskBroken({ slot, at, say }: SlotCase, error: string): Why {
  const summary = `Nothing is triggered at ${say(slot ?? at)}, as the task cannot be triggered as stored: ${error}.`;
  return { code: 'task_broken', slot, summary, evidence: { error } };
}

function absent({ at, slot, eras, say }: SlotCase, index: number): Why {
  const since = eras[index]?.since ?? -Infinity;
  if (since === -Infinity) {
    const createdAt = eras[index + 1]?.since ?? null;
    const until = createdAt === null ? '' : `, it was created at ${say(createdAt)}`;
    const summary = `There was no such task at ${say(at)} yet${until}.`;
    return { code: 'not_created', slot, summary, evidence: { created_at: createdAt } };
  }
  const summary = `There was no such task at ${say(at)}: it was deleted at ${say(since)}.`;
  return { code: 'deleted', slot, summary, evidence: { deleted_at: since } };
}

const isOff = (era: Era | undefined) => isKnown(era) && !era.state.isEnabled;

function disabled({ at, slot, eras, say }: SlotCase, index: number): Why {
  let [first, last] = [index, index];
  while (isOff(eras[first - 1])) first--;
  while (isOff(eras[last + 1])) last++;
  const since = eras[first]?.since ?? -Infinity;
  const until = eras[last]?.until ?? Infinity;
  const end = until === Infinity ? 'and still is' : `until ${say(until)}`;
  const summary = `The task was disabled at ${say(slot ?? at)}: since ${say(since)} ${end}.`;
  const evidence = { disabled_since: since, disabled_until: until === Infinity ? null : until };
  return { code: 'disabled', slot, summary, evidence };
}

function notDue({ at, eras, say }: SlotCase, era: KnownEra): Why {
  const before = slotBefore(at, eras);
  const after = slotAfter(at, eras);
  const evidence = { ...definition(era), slot_before: before, slot_after: after };
  const bound = boundAt(era.state.schedule, at);
  const around = `the slot before was ${before === null ? 'none' : say(before)}, the next is ${after === null ? 'none' : say(after)}`;
  if (bound !== null) {
    const [name, instant] = bound;
    const summary = `Not due at ${say(at)}, as ${name} is ${say(instant)}; ${around}.`;
    return { code: 'outside_bounds', slot: null, summary, evidence: { ...evidence, [name]: instant } };
  }
  return { code: 'not_due', slot: null, summary: `Not due at ${say(at)}: ${around}.`, evidence };
}

function notDueYet({ eras, say }: SlotCase, slot: number, start: number): Why {
  const jitter = start === slot ? '' : `, by its jitter at ${say(start)}`;
  const summary = `Not due yet: the slot of ${say(slot)} is to come${jitter}.`;
  const evidence = { slot_before: slotBefore(slot - 1, eras), slot_after: slot, window_start: start };
  return { code: 'not_due', slot, summary, evidence };
}

/** The bound of a schedule that leaves an instant out. */
function boundAt(schedule: Schedule, at: number): readonly [name: string, instant: number] | null {
  if (schedule.type === 'once') return null;
  const { startAt, endAt } = schedule;
  if (startAt !== null && at < startAt) return ['start_at', startAt];
  return endAt !== null && at > endAt ? ['end_at', endAt] : null;
}

const unknown = (slot: number | null, missing: string, evidence: Why['evidence'] = {}): Why => ({
  code: 'unknown',
  slot,
  summary: `ax cannot tell what became of ${missing}.`,
  evidence: { ...evidence, missing },
});

/** The definition in force, as far as it decides slots. */
const definition = ({ since, state }: KnownEra): Why['evidence'] => ({
  version: state.version,
  in_force_since: since,
  schedule: scheduleWords(state.schedule).description.en,
  misfire_policy: state.policy.misfirePolicy,
  window_sec: state.policy.windowSec,
});
