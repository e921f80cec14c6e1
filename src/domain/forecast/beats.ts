import { fireAt } from '../jitter.js';
import { type CronSchedule, FireTimes, type IntervalSchedule, type Schedule } from '../schedule.js';
import { TaskSlots } from '../timetable.js';

export const MINUTE_MS = 60_000;

/** The starts of one schedule in a range, those of one minute together, in order. */
export interface Beats {
  /** First and last start of each minute that has one, epoch ms. */
  readonly firstAt: readonly number[];
  readonly lastAt: readonly number[];
  readonly starts: readonly number[];
  /** The least time between two starts, ms; Infinity when there are fewer than two. */
  readonly gapMs: number;
}

/** Epoch ms at which the minute of an instant ends, exclusive. */
const minuteEnd = (instant: number): number => (Math.floor(instant / MINUTE_MS) + 1) * MINUTE_MS;

/** The starts in `[from, to)`. Costs a step for each minute that has some, however many they are. */
export function beatsOf(schedule: Schedule, from: number, to: number): Beats {
  const list = new BeatList();
  const end = 'endAt' in schedule && schedule.endAt !== null ? Math.min(to, schedule.endAt + 1) : to;
  switch (schedule.type) {
    case 'once':
      if (schedule.runAt >= from && schedule.runAt < to) list.add(schedule.runAt, schedule.runAt, 1);
      break;
    case 'interval':
      addIntervals(list, schedule, from, end);
      break;
    case 'cron':
      addCron(list, schedule, from, end);
  }
  return list;
}

/**
 * The starts of a task in `[from, to)`: those of its schedule, each as much later as jitter moves it. A task that starts several times a
 * minute is taken to start at its slots, from which jitter moves it by less than a minute.
 */
export function startsOf(
  task: { readonly id: string; readonly schedule: Schedule },
  from: number,
  to: number,
): Beats {
  const { id, schedule } = task;
  const jitterMs = schedule.type === 'once' ? 0 : schedule.jitterSec * 1000;
  if (jitterMs === 0) return beatsOf(schedule, from, to);
  const slots = beatsOf(schedule, from - jitterMs, to);
  if (slots.gapMs < MINUTE_MS) return beatsOf(schedule, from, to);
  const list = new BeatList();
  const taskSlots = new TaskSlots({ schedule, former: [] }, new FireTimes(false));
  for (const slot of slots.firstAt) {
    const at = fireAt(taskSlots, id, slot);
    if (at >= from && at < to) list.add(at, at, 1);
  }
  return list;
}

class BeatList implements Beats {
  readonly firstAt: number[] = [];
  readonly lastAt: number[] = [];
  readonly starts: number[] = [];
  gapMs = Infinity;

  add(firstAt: number, lastAt: number, starts: number): void {
    const before = this.lastAt.at(-1);
    if (before !== undefined) this.gapMs = Math.min(this.gapMs, firstAt - before);
    this.firstAt.push(firstAt);
    this.lastAt.push(lastAt);
    this.starts.push(starts);
  }
}

function addIntervals(list: BeatList, schedule: IntervalSchedule, from: number, end: number): void {
  const stepMs = schedule.everySec * 1000;
  const first = new FireTimes().next(schedule, from - 1);
  if (first === null) return;
  list.gapMs = stepMs;
  for (let at = first; at < end;) {
    const starts = Math.floor((Math.min(minuteEnd(at), end) - 1 - at) / stepMs) + 1;
    list.add(at, at + (starts - 1) * stepMs, starts);
    at += starts * stepMs;
  }
}

/** A minute of a cron schedule that was walked from its first to its last slot. */
interface WalkedMinute {
  readonly starts: number;
  /** From the first to the last slot. */
  readonly spanMs: number;
}

/**
 * Every minute that an expression names has the same seconds; so one is walked, and of the others that no bound and no excluded time cuts,
 * and that no change of the clocks touches, only the first slot is looked for. What a calendar excludes does not start.
 */
function addCron(list: BeatList, schedule: CronSchedule, from: number, end: number): void {
  const begin = Math.max(from, schedule.startAt ?? from);
  let model: WalkedMinute | null = null;
  const times = new FireTimes(false);
  const edges = schedule.calendar?.days.excludedTimes.flatMap(({ from: a, to: b }) => [a, b]) ?? [];
  const hasWholeMinutes = edges.every((edge) => edge % MINUTE_MS === 0);
  for (let slot = times.nextFiring(schedule, from - 1, end - 1); slot !== null;) {
    const until = minuteEnd(slot);
    const isWhole = hasWholeMinutes && until <= end && until - MINUTE_MS >= begin;
    // A minute with one start is what the search for the next slot finds by itself.
    const isLikeModel =
      isWhole && model !== null && (model.starts === 1 || times.noteOf(schedule, slot) === null);
    const minute: WalkedMinute =
      isLikeModel && model !== null ? model : walkMinute(list, schedule, slot, Math.min(until, end), times);
    if (model === null && isWhole && times.noteOf(schedule, slot) === null) model = minute;
    list.add(slot, slot + minute.spanMs, minute.starts);
    slot = times.nextFiring(schedule, minute.starts === 1 ? slot : until - 1, end - 1);
  }
}

function walkMinute(
  list: BeatList,
  schedule: CronSchedule,
  first: number,
  until: number,
  times: FireTimes,
): WalkedMinute {
  let last = first;
  let starts = 1;
  for (let slot = times.nextFiring(schedule, first, until - 1); slot !== null; starts++) {
    list.gapMs = Math.min(list.gapMs, slot - last);
    last = slot;
    slot = times.nextFiring(schedule, slot, until - 1);
  }
  return { starts, spanMs: last - first };
}
