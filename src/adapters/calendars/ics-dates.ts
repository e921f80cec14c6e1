import { dateOfDay } from '../../domain/calendar.js';
import { type IcsEvent } from './ics-events.js';
import { atLine, type IcsProperty } from './ics-lines.js';

/** A date, or the midnight of one without a zone, as ical.js writes them; `T::` is what it makes of a date that is not called one. */
const DATE = /^(\d{4}-\d\d-\d\d)(?:T(?:::|00:00:00))?$/;
const MAX_LENGTH = 366;
const ALL_DAY =
  'a calendar takes all-day events (DTSTART;VALUE=DATE:20260101); correct it, or leave the event out';

/** The days since 1970-01-01 that a property names. @throws InvalidInput on what is not a day from 1583 to 2199. */
export const daysOf = ({ line, values }: IcsProperty): number[] =>
  values.map((value) => {
    const text = String(value);
    const date = DATE.exec(text)?.[1] ?? '';
    const day = Date.parse(`${date}T00:00:00Z`) / 86_400_000;
    if (date >= '1583' && date < '2200' && !Number.isNaN(day) && dateOfDay(day) === date) return day;
    const isTime = /T\d\d:/.test(text);
    throw atLine(
      line,
      `${JSON.stringify(text.slice(0, 30))} is ${isTime ? 'a time of a day' : 'not a date'}`,
      ALL_DAY,
    );
  });

/** The days that EXDATE and RECURRENCE-ID name; a time of day is left out of them, as some programs write the start of the day. */
export const namedDaysOf = ({ line, type, values }: IcsProperty): number[] =>
  daysOf({ line, type, values: values.map((value) => String(value).slice(0, 10)) });

/** The first day of an event and how many it lasts; DTEND is the day after its last. */
export function spanOf({ line, properties }: IcsEvent): { readonly start: number; readonly length: number } {
  const [dtstart] = properties.get('DTSTART') ?? [];
  const [start] = dtstart === undefined ? [] : daysOf(dtstart);
  if (start === undefined) throw atLine(line, 'begins an event without DTSTART', ALL_DAY);
  const [dtend] = properties.get('DTEND') ?? [];
  const [duration] = properties.get('DURATION') ?? [];
  const length = dtend === undefined ? durationOf(duration) : (daysOf(dtend)[0] ?? NaN) - start || 1;
  if (length >= 1 && length <= MAX_LENGTH) return { start, length };
  const { line: at } = dtend ?? duration ?? { line };
  throw atLine(at, 'makes an event that does not last from 1 to 366 days', ALL_DAY);
}

/** In days; NaN for what is not a number of whole days. */
function durationOf(duration: IcsProperty | undefined): number {
  if (duration === undefined) return 1;
  const [, weeks, days] = /^P(?:(\d{1,4})W)?(?:(\d{1,4})D)?$/.exec(String(duration.values[0])) ?? [];
  return weeks === undefined && days === undefined ? NaN : 7 * Number(weeks ?? 0) + Number(days ?? 0);
}
