import { weekdayOf } from './cron-fields.js';
import { type ParsedField } from './parse-cron-text.js';
import { valuesOf } from './parse-item.js';

/** The days of a month that match, as a mask: bit 0 is the 1st. */
export type DayMask = number;

/** Whether a day field leaves the days to the other one: also with a step. */
export const isUnrestricted = ({ text }: ParsedField): boolean => /^[*?]/.test(text);

/**
 * The days of a month that both day fields name together. Where both are restricted either is enough; a field that begins with `*` or `?`
 * counts as unrestricted, also with a step, and then both must match (Vixie cron).
 */
export class DayRule {
  private readonly isEither: boolean;

  constructor(
    private readonly dayOfMonth: ParsedField,
    private readonly dayOfWeek: ParsedField,
  ) {
    this.isEither = !isUnrestricted(dayOfMonth) && !isUnrestricted(dayOfWeek);
  }

  /** In a month with `length` days whose 1st is the weekday `first` (0 = Sunday). */
  maskOf(length: number, first: number): DayMask {
    let days = 0;
    let weekdays = 0;
    for (const day of this.daysOfMonth(length, first)) days |= bitOf(day, length);
    for (const day of this.daysOfWeek(length, first)) weekdays |= bitOf(day, length);
    return this.isEither ? days | weekdays : days & weekdays;
  }

  /** Days that the month lacks are among them. */
  private daysOfMonth(length: number, first: number): number[] {
    return this.dayOfMonth.items.flatMap((item) => {
      switch (item.kind) {
        case 'span':
          return valuesOf(item, this.dayOfMonth.rule);
        case 'last_day':
          return [length - item.before];
        case 'nearest_workday':
          return [item.day === null ? lastWorkday(length, first) : nearestWorkday(item.day, length, first)];
        case 'last_weekday':
        case 'nth_weekday':
          return [];
      }
    });
  }

  private daysOfWeek(length: number, first: number): number[] {
    const { items, rule } = this.dayOfWeek;
    return items.flatMap((item) => {
      switch (item.kind) {
        case 'span':
          return valuesOf(item, rule).flatMap((value) => all(weekdayOf(value, rule), first));
        case 'last_weekday':
          return all(weekdayOf(item.weekday, rule), first).filter((day) => day > length - 7 && day <= length);
        case 'nth_weekday':
          return [all(weekdayOf(item.weekday, rule), first)[item.nth - 1] as number];
        case 'last_day':
        case 'nearest_workday':
          return [];
      }
    });
  }
}

const bitOf = (day: number, length: number): number => (day >= 1 && day <= length ? 1 << (day - 1) : 0);

/** The five days that such a weekday has in the longest month and beyond. */
function all(weekday: number, first: number): number[] {
  const day = 1 + ((weekday - first + 7) % 7);
  return [day, day + 7, day + 14, day + 21, day + 28];
}

const weekdayIn = (day: number, first: number): number => (first + day - 1) % 7;

/** Within the month; 0 if the month has no such day. */
function nearestWorkday(day: number, length: number, first: number): number {
  if (day > length) return 0;
  switch (weekdayIn(day, first)) {
    case 6:
      return day > 1 ? day - 1 : day + 2;
    case 0:
      return day < length ? day + 1 : day - 2;
    default:
      return day;
  }
}

function lastWorkday(length: number, first: number): number {
  const back = { 6: 1, 0: 2 }[weekdayIn(length, first)] ?? 0;
  return length - back;
}
