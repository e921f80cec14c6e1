import { type Cron, parseCron } from './cron.js';
import { type FieldProblem, InvalidInput } from './errors.js';

interface Bounds {
  /** Earliest slot, epoch ms, inclusive. */
  readonly startAt: number | null;
  /** Latest slot, epoch ms, inclusive. */
  readonly endAt: number | null;
}

export interface CronSchedule extends Bounds {
  readonly type: 'cron';
  readonly expr: string;
  readonly timezone: string;
}

/** Slots are `anchorAt + n × everySec`; the anchor never moves, so neither a restart nor an outage shifts the phase. */
export interface IntervalSchedule extends Bounds {
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

/** Computes slots of schedules. Equal (expression, zone, instant) are computed once per instance: use one per batch. */
export class FireTimes {
  private readonly crons = new Map<string, Cron>();
  private readonly answers = new Map<string, number | null>();

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

  private memo(schedule: CronSchedule, kind: string, at: number, compute: (cron: Cron) => number | null) {
    const zoned = `${schedule.timezone}|${schedule.expr}`;
    const key = `${kind}|${at}|${zoned}`;
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    let cron = this.crons.get(zoned);
    if (cron === undefined) {
      cron = parseCron(schedule.expr, schedule.timezone);
      this.crons.set(zoned, cron);
    }
    const answer = compute(cron);
    this.answers.set(key, answer);
    return answer;
  }
}

const firstIndex = (schedule: IntervalSchedule): number => (schedule.startAt === null ? 1 : 0);

const withinEnd = (schedule: Schedule, slot: number | null): number | null =>
  slot !== null && 'endAt' in schedule && schedule.endAt !== null && slot > schedule.endAt ? null : slot;

/**
 * Refuses a schedule that could not fire: bad expression, zone or interval, end before start, or no slot after `now`.
 * @throws InvalidInput naming the API fields (`cron_expr`, `timezone`, `interval`, `run_at`, `end_at`).
 */
export function assertSchedule(schedule: Schedule, now: number): void {
  const problems: FieldProblem[] = [];
  if (schedule.type === 'interval') problems.push(...intervalProblems(schedule.everySec));
  if (schedule.type === 'once' && schedule.runAt <= now) {
    problems.push({ field: 'run_at', problem: 'is in the past', fix: 'give an instant in the future' });
  }
  if (schedule.type !== 'once' && schedule.startAt !== null && schedule.endAt !== null) {
    if (schedule.endAt < schedule.startAt) {
      problems.push({
        field: 'end_at',
        problem: 'is before start_at',
        fix: 'give an instant after start_at',
      });
    }
  }
  if (problems.length > 0) throw new InvalidInput(problems);
  if (new FireTimes().next(schedule, now) !== null) return;
  const field = schedule.type === 'cron' ? 'cron_expr' : 'end_at';
  const ended = schedule.type !== 'once' && schedule.endAt !== null;
  throw InvalidInput.of(
    ended ? 'end_at' : field,
    'the schedule never fires again (never_fires)',
    ended ? 'move end_at beyond the next fire time' : 'name a date that exists',
  );
}

function intervalProblems(everySec: number): FieldProblem[] {
  if (Number.isInteger(everySec) && everySec >= 1 && everySec <= MAX_INTERVAL_SEC) return [];
  const fix = `give whole seconds from 1 to ${MAX_INTERVAL_SEC}`;
  return [{ field: 'interval', problem: `${everySec} is not a possible interval`, fix }];
}

/** Slot 0 of an interval schedule: `startAt` if given, else the whole second in which the task was created. */
export const intervalAnchor = (startAt: number | null, createdAt: number): number =>
  startAt ?? Math.floor(createdAt / 1000) * 1000;
