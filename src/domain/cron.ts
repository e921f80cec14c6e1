import { type CalendarUse } from './calendar-use.js';
import { CalendarSlots } from './cron/calendar-slots.js';
import { type CronDialect } from './cron/cron-fields.js';
import { cronProblem } from './cron/cron-problem.js';
import { DatePattern } from './cron/date-pattern.js';
import { DayRule } from './cron/day-rule.js';
import { parseCronText, type ParsedField, type ParsedFields } from './cron/parse-cron-text.js';
import { valuesOf } from './cron/parse-item.js';
import { ShiftedDates } from './cron/shifted-dates.js';
import { TimeZone } from './cron/time-zone.js';
import { ValueSet } from './cron/value-set.js';
import { type Dates, WallPattern } from './cron/wall-pattern.js';
import { type ChangeNote, ZonedPattern } from './cron/zoned-pattern.js';
import { type FieldProblem, InvalidInput } from './errors.js';

/** A wall time that does not exist fires at the first instant after the gap, or not at all. */
export type DstGap = 'fire_after' | 'skip';
export const DST_GAPS = ['fire_after', 'skip'] as const satisfies readonly DstGap[];

/** Which pass of a wall time that is shown twice fires. */
export type DstOverlap = 'first' | 'second' | 'both';
export const DST_OVERLAPS = ['first', 'second', 'both'] as const satisfies readonly DstOverlap[];

/** All that decides when a cron schedule fires. */
export interface CronRule {
  readonly expr: string;
  readonly dialect: CronDialect;
  /** IANA name. */
  readonly timezone: string;
  readonly dstGap: DstGap;
  readonly dstOverlap: DstOverlap;
  /** Null: every day and time counts. */
  readonly calendar: CalendarUse | null;
}

export const DEFAULT_CRON = {
  dialect: 'unix',
  dstGap: 'fire_after',
  dstOverlap: 'first',
  calendar: null,
} as const;

/** Equal for equal rules. */
export const cronKey = ({ expr, dialect, timezone, dstGap, dstOverlap, calendar }: CronRule): string =>
  `${dialect}|${dstGap}|${dstOverlap}|${timezone}|${calendar === null ? '' : calendar.key}|${expr}`;

/** Fire times of one cron rule (docs/cron.md). Pure, and bounded whatever is asked. */
export interface Cron {
  /** The first slot strictly after `after` (epoch ms); null if there is none. */
  next(after: number): number | null;
  /** The last slot at or before `instant` (epoch ms); null if there is none. */
  previous(instant: number): number | null;
  /** What a change of the clocks has to do with a slot; null if nothing. */
  noteOf(slot: number): ChangeNote | null;
  /** Which of the slots the calendar excludes; null without one. */
  readonly calendar: CalendarSlots | null;
}

/**
 * Reads a cron rule: five fields (minute first), six (second first), in `quartz` also seven (year last), or a macro such as `@hourly`. A
 * job whose minute or hour has `*`, `?` or `/` keeps its cadence: nothing is made up for a gap, both passes of a repeated time fire.
 * Any other is at fixed times, and its `dstGap` and `dstOverlap` count.
 * @throws InvalidInput with every problem of `cron_expr` and `timezone`.
 */
export function parseCron(rule: CronRule): Cron {
  const read = readCron(rule);
  if (read.cron === null) throw new InvalidInput(read.problems);
  return read.cron;
}

/** Every broken rule of an expression and its zone, by API field; empty when the expression has slots. */
export const cronProblems = (rule: CronRule): readonly FieldProblem[] => readCron(rule).problems;

function readCron({ expr, dialect, timezone, dstGap, dstOverlap, calendar: use }: CronRule): {
  readonly cron: Cron | null;
  readonly problems: readonly FieldProblem[];
} {
  const { zone, problems } = readZone(timezone);
  const parsed = parseCronText(expr, dialect);
  const { fields } = parsed;
  if (fields === null) return { cron: null, problems: [...problems, ...parsed.problems] };
  const dates = datesOf(fields);
  if (!dates.hasAny) return { cron: null, problems: [...problems, noDate(fields)] };
  if (zone === null) return { cron: null, problems };
  const keepsCadence = /[*?/]/.test(fields.minute.text + fields.hour.text);
  const rule = keepsCadence
    ? ({ catchesUp: false, passes: 'both' } as const)
    : { catchesUp: dstGap === 'fire_after', passes: dstOverlap };
  const shifted = use === null || use.shift === 'none' ? null : new ShiftedDates(dates, use);
  const slots = new ZonedPattern(patternOf(fields, shifted ?? dates), zone, rule);
  const calendar = use === null ? null : new CalendarSlots(slots, zone, use, shifted);
  return { cron: new ZonedCron(slots, calendar), problems: [] };
}

class ZonedCron implements Cron {
  constructor(
    private readonly slots: ZonedPattern,
    readonly calendar: CalendarSlots | null,
  ) {}

  next(after: number): number | null {
    return this.slots.next(after);
  }

  previous(instant: number): number | null {
    return this.slots.previous(instant);
  }

  noteOf(slot: number): ChangeNote | null {
    return this.slots.noteOf(slot);
  }
}

function readZone(timezone: string): { zone: TimeZone | null; problems: FieldProblem[] } {
  const refuse = (problem: string) => ({
    zone: null,
    problems: [{ field: 'timezone', problem, fix: 'use an IANA name such as "UTC" or "Asia/Shanghai"' }],
  });
  if (/^[+-]/.test(timezone)) return refuse(`"${timezone}" is an offset, not a time zone`);
  try {
    return { zone: TimeZone.of(timezone), problems: [] };
  } catch {
    return refuse(`"${timezone}" is not a known time zone`);
  }
}

function patternOf({ second, minute, hour }: ParsedFields, dates: Dates): WallPattern {
  const seconds = second === null ? new ValueSet([0]) : valueSet(second);
  return new WallPattern(seconds, valueSet(minute), valueSet(hour), dates);
}

const datesOf = (fields: ParsedFields): DatePattern =>
  new DatePattern(
    valueSet(fields.month),
    new DayRule(fields['day of month'], fields['day of week']),
    fields.year === null ? null : allValues(fields.year).sort((a, b) => a - b),
  );

const allValues = ({ items, rule }: ParsedField): number[] =>
  items.flatMap((item) => (item.kind === 'span' ? valuesOf(item, rule) : []));

const valueSet = (field: ParsedField): ValueSet => new ValueSet(allValues(field));

function noDate(fields: ParsedFields): FieldProblem {
  const day = fields['day of month'];
  const problem = `is no day of any month in "${fields.month.text}"`;
  return cronProblem('never_fires', day, problem, NAME_A_DATE, day.rule.name);
}

const NAME_A_DATE = 'name a date that exists';

/** What is wrong with a rule that has no slot left; `when` says since when. */
export const neverFires = ({ expr }: CronRule, when: string): FieldProblem =>
  cronProblem('never_fires', { text: expr, position: 1 }, `has no fire time ${when}`, NAME_A_DATE);
