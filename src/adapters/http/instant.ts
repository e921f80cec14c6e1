import { readWith, Refusal } from './field-problems.js';

/** The last instant that four digits of year can write. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const RFC3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?([Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))?$/;

const FIX = 'give RFC 3339 such as "2026-01-31T09:00:00+08:00", or whole epoch milliseconds';

/**
 * Epoch ms of an instant at the edge: RFC 3339 text with an offset (digits after the milliseconds are cut off), or whole epoch ms, from
 * 1970 to 9999; else what is wrong with it.
 */
export function readInstant(value: unknown): number | Refusal {
  if (typeof value === 'number') return inRange(Number.isInteger(value) ? value : NaN);
  const match = typeof value === 'string' ? RFC3339.exec(value) : null;
  if (match === null) return new Refusal('is not an instant', FIX);
  const [, year, month, day, hour, minute, second, fraction, offset, sign, offsetHour, offsetMinute] = match;
  if (offset === undefined) {
    return new Refusal('has no offset from UTC', 'end it with Z, or with an offset such as +08:00');
  }
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const isRealDay = new Date(midnight).toISOString().startsWith(`${year}-${month}-${day}`);
  if (!isRealDay) return new Refusal('is not a day that exists', FIX);
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const ms = Number((fraction ?? '').padEnd(3, '0').slice(0, 3));
  const offsetMin = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === '-' ? -1 : 1);
  return inRange(midnight + seconds * 1000 + ms - offsetMin * 60_000);
}

const inRange = (instant: number): number | Refusal =>
  instant >= 0 && instant <= LAST
    ? instant
    : new Refusal('is not an instant from 1970 to the year 9999', FIX);

/** An instant in a query string, where epoch ms are digits, and a plus sign that was not escaped arrives as a blank. */
export const queryInstant = readWith((value) => {
  if (typeof value !== 'string') return readInstant(null);
  return readInstant(/^\d{1,15}$/.test(value) ? Number(value) : value.replace(/ (?=\d\d:\d\d$)/, '+'));
});

/** RFC 3339 in UTC with milliseconds. */
export const instantText = (instant: number): string => new Date(instant).toISOString();

/** RFC 3339 with milliseconds and the offset that `timezone` (IANA) has at that instant. */
export function localText(instant: number, timezone: string): string {
  const wall = wallClock(instant, timezone);
  const offsetMin = Math.round((wall - instant) / 60_000);
  const two = (n: number) => String(n).padStart(2, '0');
  const size = Math.abs(offsetMin);
  const offset = `${offsetMin < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${new Date(instant + offsetMin * 60_000).toISOString().slice(0, -1)}${offset}`;
}

/** The wall clock of a zone read as if it were UTC, epoch ms. */
function wallClock(instant: number, timezone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return (
    Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second')) +
    (((instant % 1000) + 1000) % 1000)
  );
}
