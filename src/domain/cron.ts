import { type CronExpression, CronExpressionParser } from 'cron-parser';
import { CRON_FIX, cronSyntaxProblems, normalCron } from './cron-syntax.js';
import { type FieldProblem, InvalidInput, messageOf } from './errors.js';
import { WallClock } from './wall-clock.js';

/**
 * Fire times of one cron expression in one time zone. The only file that knows cron-parser, which is asked for matching dates in UTC
 * alone: near changes of clocks its own answers skip slots, run backwards or never come. Here a job whose minute and hour are fixed
 * runs once for each local time: at the end of the gap if it is missing, in the first pass if it is repeated. Any other job
 * (`*`, `?` or `/` in minute or hour) keeps its cadence: nothing is made up for a gap, both passes of a repeated time run.
 */
export interface Cron {
  /** The first slot strictly after `after` (epoch ms). */
  next(after: number): number;
  /** The last slot at or before `instant` (epoch ms). */
  previous(instant: number): number;
}

/**
 * Parses a cron expression of five fields (minute first) or six (second first), or a macro such as `@hourly`.
 * @throws InvalidInput with every problem of `cron_expr` and `timezone`.
 */
export function parseCron(expr: string, timezone: string): Cron {
  const problems = cronProblems(expr, timezone);
  if (problems.length > 0) throw new InvalidInput(problems);
  const text = normalCron(expr);
  const [minute = '', hour = ''] = text.split(' ').slice(-5);
  return new ZonedCron(text, timezone, /[*?/]/.test(minute + hour));
}

/** Every broken rule of an expression and its zone, by API field; empty when the expression has slots. */
export function cronProblems(expr: string, timezone: string): FieldProblem[] {
  const text = normalCron(expr);
  const problems = [...timezoneProblems(timezone), ...cronSyntaxProblems(text)];
  if (problems.some(({ field }) => field === 'cron_expr')) return problems;
  try {
    parse(text);
    return problems;
  } catch (error) {
    return [...problems, parserProblem(messageOf(error))];
  }
}

function timezoneProblems(timezone: string): FieldProblem[] {
  const refuse = (problem: string): FieldProblem[] => [
    { field: 'timezone', problem, fix: 'use an IANA name such as "UTC" or "Asia/Shanghai"' },
  ];
  if (/^[+-]/.test(timezone)) return refuse(`"${timezone}" is an offset, not a time zone`);
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return [];
  } catch {
    return refuse(`"${timezone}" is not a known time zone`);
  }
}

const parserProblem = (message: string): FieldProblem =>
  message === 'Invalid explicit day of month definition'
    ? {
        field: 'cron_expr',
        problem: 'no month it names has that day (never_fires)',
        fix: 'name a date that exists',
      }
    : { field: 'cron_expr', problem: `is not valid (${message})`, fix: CRON_FIX };

const parse = (text: string): CronExpression =>
  CronExpressionParser.parse(text, { currentDate: 0, tz: 'UTC' });

const DAY_MS = 86_400_000;

class ZonedCron implements Cron {
  private readonly dates: CronExpression;
  private readonly clock: WallClock;

  constructor(
    text: string,
    timezone: string,
    private readonly keepsCadence: boolean,
  ) {
    this.dates = parse(text);
    this.clock = new WallClock(timezone);
  }

  next(after: number): number {
    return this.keepsCadence ? this.nextOfCadence(after) : this.nextFixed(after);
  }

  previous(instant: number): number {
    const offset = this.clock.offsetMs(instant);
    let wall = this.matchBefore(instant + offset + 1);
    const nearBoth = [instant - DAY_MS, wall - offset, wall - offset - DAY_MS];
    if (nearBoth.every((near) => this.clock.offsetMs(near) === offset)) return wall - offset;
    for (;;) {
      const slot = this.next(wall - offset - 1);
      if (slot <= instant) return this.lastUpTo(instant, slot);
      wall = this.matchBefore(wall - DAY_MS);
    }
  }

  private nextFixed(after: number): number {
    return this.clock.firstShowing(this.matchAfter(this.clock.latestUpTo(after)));
  }

  /** Each turn of the loop passes a change of the clocks: one that may repeat what is past, or one on the way to the next match. */
  private nextOfCadence(after: number): number {
    let from = after;
    let wall = this.matchAfter(this.clock.at(after));
    for (;;) {
      const slot = wall - this.clock.offsetMs(from);
      const soon = Math.min(slot, from + DAY_MS);
      const change = this.clock.changeBetween(from, soon) ?? this.clock.changeBetween(soon, slot);
      if (change === null) return slot;
      from = change;
      wall = this.matchAfter(this.clock.at(change) - 1);
    }
  }

  /** The last slot up to `instant`, where `known` is one: halves the rest until it holds none. */
  private lastUpTo(instant: number, known: number): number {
    let slot = known;
    let end = instant;
    let probe = known;
    while (slot < end) {
      const later = this.next(probe);
      if (later <= instant) slot = later;
      else end = probe;
      probe = end - 1 - Math.floor((end - slot) / 2);
    }
    return slot;
  }

  private matchAfter(wall: number): number {
    this.dates.reset(new Date(wall));
    return this.dates.next().getTime();
  }

  private matchBefore(wall: number): number {
    this.dates.reset(new Date(wall));
    return this.dates.prev().getTime();
  }
}
