import { namedDaysOf } from './ics-dates.js';
import { atLine, type IcsProperty } from './ics-lines.js';
import { yearOf } from './days.js';

/** A rule of recurrence that returns once or a few times a year; null where the first day of the event says it. */
export interface YearlyRule {
  readonly interval: number;
  readonly count: number;
  readonly until: number;
  readonly months: readonly number[] | null;
  readonly monthDays: readonly number[] | null;
  /** `nth` 0: every such weekday of the month; -1: its last. */
  readonly weekdays: readonly { readonly nth: number; readonly weekday: number }[] | null;
}

const KNOWN = new Set(['freq', 'interval', 'count', 'until', 'wkst', 'bymonth', 'bymonthday', 'byday']);
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const MAX_COUNT = 500;
const DAY_MS = 86_400_000;
const FIX = 'write its days as events of their own (days off of every week are the weekend of the calendar)';

/**
 * Reads what ical.js made of an RRULE. The days are counted here and not by ical.js: its iterator gives 1 March for 29 February, and takes
 * seconds for a rule that never comes true (docs/decisions/0005-calendar-sources.md).
 * @throws InvalidInput on a rule that is not yearly, or needs more than the days of given months.
 */
export function yearlyRule({ line, type, values }: IcsProperty): YearlyRule {
  const rule = values[0] as Readonly<Record<string, unknown>>;
  const refuse = (problem: string) => atLine(line, `RRULE ${problem}`, FIX);
  if (rule['freq'] !== 'YEARLY') throw refuse('is not FREQ=YEARLY');
  const unknown = Object.keys(rule).find((part) => !KNOWN.has(part));
  if (unknown !== undefined)
    throw refuse(`has ${unknown.toUpperCase().slice(0, 40)}, which ax does not count`);
  const list = (part: string) => (rule[part] === undefined ? null : [...new Set([rule[part]].flat())]);
  const [months, monthDays, weekdays] = [list('bymonth'), list('bymonthday'), list('byday')];
  if (months === null && (monthDays !== null || weekdays !== null))
    throw refuse('has BYDAY or BYMONTHDAY without BYMONTH');
  const count = rule['count'] === undefined ? Infinity : Number(rule['count']);
  if (count < 1 || (count > MAX_COUNT && count !== Infinity))
    throw refuse(`has a COUNT that is not from 1 to ${MAX_COUNT}`);
  const [until = Infinity] =
    rule['until'] === undefined ? [] : namedDaysOf({ line, type, values: [rule['until']] });
  return {
    interval: Number(rule['interval'] ?? 1),
    count,
    until,
    months: months?.map(Number).sort((a, b) => a - b) ?? null,
    monthDays: monthDays?.map(Number) ?? null,
    weekdays: (weekdays as string[] | null)?.map(weekdayOf) ?? null,
  };
}

const weekdayOf = (text: string) => ({
  nth: Number(text.slice(0, -2)),
  weekday: WEEKDAYS.indexOf(text.slice(-2)),
});

/**
 * The days from `from` to `to` on which an event begins that began first at `start` and returns by `rule`. `spend` is told of each month
 * that is looked at before it is, and may throw.
 */
export function occurrences(
  rule: YearlyRule,
  start: number,
  { from, to }: { readonly from: number; readonly to: number },
  spend: (months: number) => void,
): number[] {
  const found: number[] = [];
  const firstYear = yearOf(start);
  // Without COUNT nothing of the years before `from` matters.
  const skipped =
    rule.count === Infinity ? Math.max(0, Math.floor((yearOf(from) - firstYear) / rule.interval)) : 0;
  const months = rule.months ?? [new Date(start * DAY_MS).getUTCMonth() + 1];
  let count = 0;
  for (let year = firstYear + skipped * rule.interval; year <= yearOf(to); year += rule.interval) {
    spend(months.length);
    for (const day of months.flatMap((month) => daysOfMonth(rule, start, year, month))) {
      if (day < start) continue;
      if (day > rule.until || ++count > rule.count) return found;
      if (day >= from && day <= to) found.push(day);
    }
  }
  return found;
}

function daysOfMonth(rule: YearlyRule, start: number, year: number, month: number): number[] {
  const before = Date.UTC(year, month - 1, 0) / DAY_MS;
  const length = Date.UTC(year, month, 0) / DAY_MS - before;
  const [weekdays, monthDays] =
    rule.weekdays === null && rule.monthDays === null
      ? [null, [new Date(start * DAY_MS).getUTCDate()]]
      : [rule.weekdays, rule.monthDays];
  return Array.from({ length }, (_, i) => before + i + 1).filter((day) => {
    const date = day - before;
    const nths = [0, Math.ceil(date / 7), -Math.ceil((length - date + 1) / 7)];
    const isOf = (weekday: number) => (day + 4 - weekday) % 7 === 0;
    const isMonthDay = monthDays?.some((n) => n === date || n === date - length - 1) ?? true;
    return isMonthDay && (weekdays?.some(({ nth, weekday }) => nths.includes(nth) && isOf(weekday)) ?? true);
  });
}
