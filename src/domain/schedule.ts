import { CalendarUse, type Exclusion } from './calendar-use.js';
import { type CalendarSlots } from './cron/calendar-slots.js';
import { type Cron, cronKey, type CronRule, parseCron } from './cron.js';
import { type ChangeNote } from './cron/zoned-pattern.js';

interface Recurring {
  /** Earliest slot, epoch ms, inclusive. */
  readonly startAt: number | null;
  /** Latest slot, epoch ms, inclusive. */
  readonly endAt: number | null;
  /** Each slot fires up to this much later (see `fireAt`); the slot stays what it is. */
  readonly jitterSec: number;
}

export interface CronSchedule extends Recurring, CronRule {
  readonly type: 'cron';
}

/** Slots are `anchorAt + n × everySec`; the anchor never moves, so neither a restart nor an outage shifts the phase. */
export interface IntervalSchedule extends Recurring {
  readonly type: 'interval';
  readonly everySec: number;
  /** Epoch ms of slot 0; slot 0 itself fires only if `startAt` names it. */
  readonly anchorAt: number;
}

export interface OnceSchedule {
  readonly type: 'once';
  /** Epoch ms. */
  readonly runAt: number;
}

export type Schedule = CronSchedule | IntervalSchedule | OnceSchedule;

export const MAX_INTERVAL_SEC = 366 * 86_400;
export const MAX_JITTER_SEC = 86_400;

/** Cron slots of one range are counted up to this many. */
export const COUNT_LIMIT = 500;
/** Cron slots that one instance counts altogether, which bounds the work of a batch. */
export const COUNT_BUDGET = 5000;

/**
 * Computes slots of schedules. Equal (cron rule, instant) are computed once per instance: use one per batch, or one that `remembers`
 * nothing for a long walk along one schedule.
 */
export class FireTimes {
  private countsLeft = COUNT_BUDGET;
  private latest: { readonly schedule: CronSchedule; readonly cron: Cron } | null = null;
  private readonly crons = new Map<string, Cron>();
  private readonly answers = new Map<string, number | null>();

  constructor(private readonly remembers = true) {}

  /** The first slot strictly after `after`, or null if the schedule has ended. */
  next(schedule: Schedule, after: number): number | null {
    const from =
      'startAt' in schedule && schedule.startAt !== null ? Math.max(after, schedule.startAt - 1) : after;
    return withinEnd(schedule, this.rawNext(schedule, from));
  }

  /** The last slot at or before `instant`, or null if there is none. */
  previous(schedule: Schedule, instant: number): number | null {
    const until =
      'endAt' in schedule && schedule.endAt !== null ? Math.min(instant, schedule.endAt) : instant;
    const slot = this.rawPrevious(schedule, until);
    const tooEarly =
      slot !== null && 'startAt' in schedule && schedule.startAt !== null && slot < schedule.startAt;
    return tooEarly ? null : slot;
  }

  /** What a change of the clocks has to do with a slot; null if nothing. */
  noteOf(schedule: Schedule, slot: number): ChangeNote | null {
    return schedule.type === 'cron' ? this.cronOf(schedule).noteOf(slot) : null;
  }

  /** The date that was moved to the day of a slot by the shift of its calendar, `YYYY-MM-DD`; null if none was. */
  movedFrom(schedule: Schedule, slot: number): string | null {
    return this.calendarOf(schedule)?.movedFrom(slot) ?? null;
  }

  /** Why the calendar excludes a slot; null if it fires. */
  exclusionOf(schedule: Schedule, slot: number): Exclusion | null {
    return this.calendarOf(schedule)?.exclusionOf(slot) ?? null;
  }

  /** The first slot in `(after, until]` that the calendar does not exclude, or null if there is none, or none is found in years. */
  nextFiring(schedule: Schedule, after: number, until = Infinity): number | null {
    const calendar = this.calendarOf(schedule);
    if (calendar === null || schedule.type !== 'cron') {
      const slot = this.next(schedule, after);
      return slot !== null && slot <= until ? slot : null;
    }
    const from = Math.max(after + 1, schedule.startAt ?? -Infinity);
    const to = Math.min(until, schedule.endAt ?? Infinity);
    const find = () => calendar.find({ from, to, direction: 1, isExcluded: false });
    return to === Infinity ? this.memo(schedule, 'f', from, find) : find();
  }

  /** The last slot in `[since, instant]` that the calendar does not exclude, or null if there is none. */
  previousFiring(schedule: Schedule, instant: number, since: number): number | null {
    const calendar = this.calendarOf(schedule);
    if (calendar === null || schedule.type !== 'cron') {
      const slot = this.previous(schedule, instant);
      return slot !== null && slot >= since ? slot : null;
    }
    const from = Math.min(instant, schedule.endAt ?? Infinity);
    const to = Math.max(since, schedule.startAt ?? -Infinity);
    return calendar.find({ from, to, direction: -1, isExcluded: false });
  }

  /** The first slot in `(after, until]` that the calendar excludes, or null if there is none. */
  nextExcluded(schedule: Schedule, after: number, until: number): number | null {
    const calendar = this.calendarOf(schedule);
    if (calendar === null || schedule.type !== 'cron') return null;
    const from = Math.max(after + 1, schedule.startAt ?? -Infinity);
    const to = Math.min(until, schedule.endAt ?? Infinity);
    return calendar.find({ from, to, direction: 1, isExcluded: true });
  }

  /** How many slots lie in `[from, to]`, where both ends are slots; null if counting them takes too long. */
  count(schedule: Schedule, from: number, to: number): number | null {
    if (from === to) return 1;
    const second = this.next(schedule, from) ?? to;
    if (schedule.type === 'interval') return 2 + (to - second) / (schedule.everySec * 1000);
    let count = 2;
    for (let slot = second; slot < to; count++) {
      if (count >= COUNT_LIMIT || this.countsLeft-- <= 0) return null;
      slot = this.next(schedule, slot) ?? to;
    }
    return count;
  }

  private rawNext(schedule: Schedule, after: number): number | null {
    switch (schedule.type) {
      case 'cron':
        return this.memo(schedule, 'n', after, (cron) => cron.next(after));
      case 'interval': {
        const stepMs = schedule.everySec * 1000;
        const n = Math.floor((after - schedule.anchorAt) / stepMs) + 1;
        return schedule.anchorAt + Math.max(n, firstIndex(schedule)) * stepMs;
      }
      case 'once':
        return schedule.runAt > after ? schedule.runAt : null;
    }
  }

  private rawPrevious(schedule: Schedule, instant: number): number | null {
    switch (schedule.type) {
      case 'cron':
        return this.memo(schedule, 'p', instant, (cron) => cron.previous(instant));
      case 'interval': {
        const stepMs = schedule.everySec * 1000;
        const n = Math.floor((instant - schedule.anchorAt) / stepMs);
        return n < firstIndex(schedule) ? null : schedule.anchorAt + n * stepMs;
      }
      case 'once':
        return schedule.runAt <= instant ? schedule.runAt : null;
    }
  }

  private memo(
    schedule: CronSchedule,
    kind: string,
    at: number,
    compute: (cron: Cron) => number | null,
  ): number | null {
    if (!this.remembers) return compute(this.cronOf(schedule));
    const rule = cronKey(schedule);
    const key = `${kind}|${at}|${rule}`;
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    const answer = compute(this.cronOf(schedule, rule));
    this.answers.set(key, answer);
    return answer;
  }

  private calendarOf(schedule: Schedule): CalendarSlots | null {
    return schedule.type === 'cron' && schedule.calendar !== null ? this.cronOf(schedule).calendar : null;
  }

  private cronOf(schedule: CronSchedule, rule?: string): Cron {
    if (this.latest?.schedule === schedule) return this.latest.cron;
    const key = rule ?? cronKey(schedule);
    let cron = this.crons.get(key);
    if (cron === undefined) {
      cron = parseCron(schedule);
      this.crons.set(key, cron);
    }
    this.latest = { schedule, cron };
    return cron;
  }
}

const firstIndex = (schedule: IntervalSchedule): number => (schedule.startAt === null ? 1 : 0);

const withinEnd = (schedule: Schedule, slot: number | null): number | null =>
  slot !== null && 'endAt' in schedule && schedule.endAt !== null && slot > schedule.endAt ? null : slot;

/** Equal in every member, in whatever order they were written. */
export function isSameSchedule(a: Schedule, b: Schedule): boolean {
  const other = new Map<string, unknown>(Object.entries(b));
  return Object.entries(a).every(([name, value]) => isSameValue(value, other.get(name)));
}

const isSameValue = (a: unknown, b: unknown): boolean =>
  a === b || (a instanceof CalendarUse && b instanceof CalendarUse && a.key === b.key);

/** Slot 0 of an interval schedule: `startAt` if given, else the whole second in which the task was created. */
export const intervalAnchor = (startAt: number | null, createdAt: number): number =>
  startAt ?? Math.floor(createdAt / 1000) * 1000;
