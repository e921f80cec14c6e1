import { type FieldProblem, InvalidInput } from './errors.js';
import { ID_FIX, isTaskId } from './task-id.js';

/** 0 = Sunday to 6 = Saturday. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;
export const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6] as const satisfies readonly Weekday[];
export const DEFAULT_WEEKEND: readonly Weekday[] = [0, 6];

export interface CalendarDay {
  /** Local date, `YYYY-MM-DD`. */
  readonly date: string;
  readonly name: string | null;
}

/** A time of every day that is left out, local, `HH:MM:SS`: `from` is in it, `to` is not; `24:00:00` is the end of the day. */
export interface ExcludedTime {
  readonly from: string;
  readonly to: string;
}

/** What an owner says of the days of a country, a company or a market. All dates are local dates of the tasks that use it. */
export interface CalendarDefinition {
  readonly name: string;
  readonly description: string;
  readonly weekend: readonly Weekday[];
  readonly holidays: readonly CalendarDay[];
  /** Days that are worked although they lie on a weekend (make-up days). */
  readonly workdays: readonly CalendarDay[];
  readonly excludedTimes: readonly ExcludedTime[];
  /** The last date of which the holidays are known, `YYYY-MM-DD`; null if it never runs out. */
  readonly knownUntil: string | null;
  /** Where days of it came from, the last origin at the end, one line each; without it all were listed by hand. */
  readonly filledFrom?: readonly string[];
}

/** A stored calendar. A version never changes: an edit makes the next one. */
export interface Calendar extends CalendarDefinition {
  readonly version: number;
}

/** Holidays and extra working days together. */
export const MAX_CALENDAR_DAYS = 5000;
export const MAX_EXCLUDED_TIMES = 24;
export const MAX_ORIGINS = 20;
const MAX_DESCRIPTION = 500;
const MAX_DAY_NAME = 100;
const MAX_ORIGIN = 200;
const DAY_MS = 86_400_000;
const FIRST_DATE = '1970-01-01';
const LAST_DATE = '2199-12-31';
const DATE_FIX = `give a date that exists as "YYYY-MM-DD", from ${FIRST_DATE} to ${LAST_DATE}`;

/** Days from 1970-01-01 to a date `YYYY-MM-DD`; null if there is no such date, or it is not from 1970 to 2199. */
export function dayNumberOf(date: string): number | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || date < FIRST_DATE || date > LAST_DATE) return null;
  const instant = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(instant) || dateOfDay(instant / DAY_MS) !== date ? null : instant / DAY_MS;
}

/** The date `YYYY-MM-DD` that is so many days after 1970-01-01. */
export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Seconds from midnight to a time `HH:MM:SS`, 86,400 for `24:00:00`; null if it is none. */
export function secondOfDay(time: string): number | null {
  const [, hour, minute, second] = /^([01]\d|2[0-4]):([0-5]\d):([0-5]\d)$/.exec(time) ?? [];
  if (hour === undefined) return null;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return seconds > 86_400 ? null : seconds;
}

/** @throws InvalidInput with every problem. */
export function assertCalendar(definition: CalendarDefinition): void {
  const problems = calendarProblems(definition);
  if (problems.length > 0) throw new InvalidInput(problems);
}

/** Every broken rule of a calendar, by API field (`holidays.3.date`). */
export function calendarProblems(definition: CalendarDefinition): FieldProblem[] {
  const { name, description, weekend, holidays, workdays, excludedTimes, knownUntil } = definition;
  const problems: FieldProblem[] = [];
  const refuse = (field: string, problem: string, fix: string) => problems.push({ field, problem, fix });
  if (!isTaskId(name)) refuse('name', 'is not a calendar name', ID_FIX);
  if (!isPrintable(description, MAX_DESCRIPTION))
    refuse(
      'description',
      'is too long or has control characters',
      `give at most ${MAX_DESCRIPTION} characters`,
    );
  weekend.forEach((day, i) => {
    if (!WEEKDAYS.includes(day))
      refuse(`weekend.${i}`, `${String(day)} is not a weekday`, 'give 0 (Sunday) to 6 (Saturday)');
    else if (weekend.indexOf(day) < i) refuse(`weekend.${i}`, `${day} is given twice`, 'give it once');
  });
  if (knownUntil !== null && dayNumberOf(knownUntil) === null)
    refuse('known_until', `"${knownUntil}" is not possible`, DATE_FIX);
  const origins = definition.filledFrom ?? [];
  if (origins.length > MAX_ORIGINS || !origins.every((origin) => isPrintable(origin, MAX_ORIGIN)))
    refuse('filled_from', 'is not as ax writes it', 'send it back as it was read, or leave it out');
  return [...problems, ...dayProblems(holidays, workdays), ...timeProblems(excludedTimes)];
}

function dayProblems(holidays: readonly CalendarDay[], workdays: readonly CalendarDay[]): FieldProblem[] {
  const count = holidays.length + workdays.length;
  if (count > MAX_CALENDAR_DAYS) {
    const fix = `list at most ${MAX_CALENDAR_DAYS} holidays and working days together`;
    return [{ field: 'holidays', problem: `and workdays list ${count} days`, fix }];
  }
  const seen = new Map<string, string>();
  const problemOf = (list: string, { date, name }: CalendarDay, i: number): FieldProblem | null => {
    const field = `${list}.${i}.date`;
    const before = seen.get(date);
    seen.set(date, list);
    if (dayNumberOf(date) === null)
      return { field, problem: `"${date.slice(0, 32)}" is not possible`, fix: DATE_FIX };
    if (before === list) return { field, problem: `${date} is listed twice`, fix: 'list it once' };
    if (before !== undefined)
      return { field, problem: `${date} is a holiday, too`, fix: 'list it as one or the other' };
    if (name === null || isPrintable(name, MAX_DAY_NAME)) return null;
    const fix = `give at most ${MAX_DAY_NAME} characters`;
    return { field: `${list}.${i}.name`, problem: 'is too long or has control characters', fix };
  };
  return [
    ...holidays.map((day, i) => problemOf('holidays', day, i)),
    ...workdays.map((day, i) => problemOf('workdays', day, i)),
  ].filter((problem) => problem !== null);
}

function timeProblems(times: readonly ExcludedTime[]): FieldProblem[] {
  if (times.length > MAX_EXCLUDED_TIMES) {
    const fix = `give at most ${MAX_EXCLUDED_TIMES}`;
    return [{ field: 'excluded_times', problem: `has ${times.length} times`, fix }];
  }
  return times.flatMap(({ from, to }, i): FieldProblem[] => {
    const field = `excluded_times.${i}`;
    const bad = (['from', 'to'] as const).filter((end) => secondOfDay({ from, to }[end]) === null);
    if (bad.length > 0)
      return bad.map((end) => ({
        field: `${field}.${end}`,
        problem: 'is not a time',
        fix: 'give a time from "00:00:00" to "24:00:00"',
      }));
    if (from < to) return [];
    const fix = 'give two: one up to "24:00:00" and one from "00:00:00"';
    return [{ field: `${field}.to`, problem: `${to} is not after ${from}`, fix }];
  });
}

const isPrintable = (text: string, max: number): boolean => text.length <= max && !/\p{Cc}/u.test(text);
