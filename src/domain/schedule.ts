import { type Cron, cronKey, cronProblems, type CronRule, neverFires, parseCron } from './cron.js';
import { type ChangeNote } from './cron/zoned-pattern.js';
import { type FieldProblem, InvalidInput } from './errors.js';

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
  return Object.entries(a).every(([name, value]) => other.get(name) === value);
}

/** Last instant that storage can keep. */
const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Refuses a schedule that could not fire: bad expression, zone or interval, end before start, or no slot after `now`.
 * @throws InvalidInput with every problem.
 */
export function assertSchedule(schedule: Schedule, now: number): void {
  const problems = scheduleProblems(schedule, now);
  if (problems.length > 0) throw new InvalidInput(problems);
}

/** Refuses only what could never have fired, so that what has ended can still be looked at. @throws InvalidInput with every problem. */
export function assertPreview(schedule: Schedule): void {
  const problems = [...ownProblems(schedule), ...instantProblems(schedule)];
  if (problems.length > 0) throw new InvalidInput(problems);
}

/** What keeps a schedule from firing, by API field (`cron_expr`, `timezone`, `interval`, `run_at`, `start_at`, `end_at`, `jitter_sec`). */
export function scheduleProblems(schedule: Schedule, now: number): FieldProblem[] {
  const problems = [...ownProblems(schedule), ...instantProblems(schedule)];
  if (problems.length > 0) return problems;
  if (schedule.type !== 'once') return endProblems(schedule, now);
  const fix = 'give an instant in the future';
  return schedule.runAt > now ? [] : [{ field: 'run_at', problem: 'is in the past', fix }];
}

function ownProblems(schedule: Schedule): readonly FieldProblem[] {
  switch (schedule.type) {
    case 'cron':
      return [...cronProblems(schedule), ...jitterProblems(schedule.jitterSec)];
    case 'interval':
      return [...intervalProblems(schedule.everySec), ...jitterProblems(schedule.jitterSec)];
    case 'once':
      return [];
  }
}

function intervalProblems(everySec: number): FieldProblem[] {
  if (Number.isInteger(everySec) && everySec >= 1 && everySec <= MAX_INTERVAL_SEC) return [];
  const fix = `give whole seconds from 1 to ${MAX_INTERVAL_SEC}`;
  return [{ field: 'interval', problem: `${everySec} is not a possible interval`, fix }];
}

/** What is wrong with `jitter_sec`. */
export function jitterProblems(jitterSec: number): FieldProblem[] {
  if (Number.isInteger(jitterSec) && jitterSec >= 0 && jitterSec <= MAX_JITTER_SEC) return [];
  const fix = `give whole seconds from 0 to ${MAX_JITTER_SEC}`;
  return [{ field: 'jitter_sec', problem: `${jitterSec} is not possible`, fix }];
}

function instantProblems(schedule: Schedule): FieldProblem[] {
  if (schedule.type === 'once') {
    const problem = badInstant('run_at', schedule.runAt);
    return problem === null ? [] : [problem];
  }
  const { startAt, endAt } = schedule;
  const problems = [badInstant('start_at', startAt), badInstant('end_at', endAt)].filter((p) => p !== null);
  if (problems.length === 0 && startAt !== null && endAt !== null && endAt < startAt) {
    problems.push({ field: 'end_at', problem: 'is before start_at', fix: 'give an instant after start_at' });
  }
  return problems;
}

function badInstant(field: string, instant: number | null): FieldProblem | null {
  if (instant === null || (Number.isInteger(instant) && instant >= 0 && instant <= MAX_INSTANT)) return null;
  const fix = 'give a whole millisecond in the years 1970 to 9999';
  return { field, problem: `${instant} is not a possible instant`, fix };
}

/** Whether any slot is left: `end_at` may come before it, and an expression may name years or only times that the clocks leave out. */
function endProblems(schedule: Schedule, now: number): FieldProblem[] {
  const times = new FireTimes();
  if (times.next(schedule, now) !== null) return [];
  if (schedule.type === 'cron' && times.next({ ...schedule, endAt: null }, now) === null) {
    const from = Math.max(now, schedule.startAt ?? now);
    return [neverFires(schedule, `after ${new Date(from).toISOString()}`)];
  }
  return [
    {
      field: 'end_at',
      problem: 'no slot is left before it (never_fires)',
      fix: 'give an instant at or after the next fire time, or none',
    },
  ];
}

/** Slot 0 of an interval schedule: `startAt` if given, else the whole second in which the task was created. */
export const intervalAnchor = (startAt: number | null, createdAt: number): number =>
  startAt ?? Math.floor(createdAt / 1000) * 1000;
