import { type DayMask, type DayRule } from './day-rule.js';
import { highestBit, lowestBit, type ValueSet } from './value-set.js';
import { type Dates } from './wall-pattern.js';

/** Dates are looked for in these years. */
const FIRST_YEAR = 1900;
const LAST_YEAR = 9998;
const ALL_WEEKDAYS = [0, 1, 2, 3, 4, 5, 6];

/**
 * The dates that an expression matches. A search jumps from the matching year to the month and the day; it takes as many steps as there
 * are months to look at, in 400 years at most, after which the calendar begins anew.
 */
export class DatePattern implements Dates {
  /** By length and first weekday of a month; -1: not asked for yet. */
  private readonly masks = new Int32Array(28).fill(-1);

  constructor(
    private readonly months: ValueSet,
    private readonly days: DayRule,
    /** In order; null: every year. */
    private readonly years: readonly number[] | null,
  ) {}

  /** Whether there is a date that matches. */
  get hasAny(): boolean {
    if (this.years !== null) return this.years.some((year) => this.isYearWithDates(year));
    for (let month = this.months.first; month > 0; month = this.months.atOrAfter(month + 1)) {
      const lengths = month === 2 ? [28, 29] : [lengthOf(2001, month)];
      if (lengths.some((length) => ALL_WEEKDAYS.some((first) => this.maskOf(length, first) !== 0)))
        return true;
    }
    return false;
  }

  atOrAfter(day: number): number | null {
    let { year, month, dayOfMonth } = dateOf(day);
    for (;;) {
      const wanted = this.yearAtOrAfter(year);
      if (wanted === null) return null;
      const inMonth = wanted > year ? this.months.first : this.months.atOrAfter(month);
      if (wanted > year || inMonth !== month) dayOfMonth = 1;
      [year, month] = [wanted, inMonth];
      const rest = month < 0 ? 0 : this.monthMask(year, month) & (-1 << (dayOfMonth - 1));
      if (rest !== 0) return firstDayOf(year, month) + lowestBit(rest);
      dayOfMonth = 1;
      if (month < 0 || month === 12) [year, month] = [year + 1, 1];
      else month++;
    }
  }

  atOrBefore(day: number): number | null {
    let { year, month, dayOfMonth } = dateOf(day);
    for (;;) {
      const wanted = this.yearAtOrBefore(year);
      if (wanted === null) return null;
      const inMonth = wanted < year ? this.months.last : this.months.atOrBefore(month);
      if (wanted < year || inMonth !== month) dayOfMonth = 31;
      [year, month] = [wanted, inMonth];
      const rest = month < 0 ? 0 : this.monthMask(year, month) & (-1 >>> (32 - dayOfMonth));
      if (rest !== 0) return firstDayOf(year, month) + highestBit(rest);
      dayOfMonth = 31;
      if (month <= 1) [year, month] = [year - 1, 12];
      else month--;
    }
  }

  private yearAtOrAfter(year: number): number | null {
    if (this.years !== null) return this.years.find((one) => one >= year) ?? null;
    return year > LAST_YEAR ? null : Math.max(year, FIRST_YEAR);
  }

  private yearAtOrBefore(year: number): number | null {
    if (this.years !== null) return this.years.findLast((one) => one <= year) ?? null;
    return year < FIRST_YEAR ? null : Math.min(year, LAST_YEAR);
  }

  private isYearWithDates(year: number): boolean {
    for (let month = this.months.first; month > 0; month = this.months.atOrAfter(month + 1)) {
      if (this.monthMask(year, month) !== 0) return true;
    }
    return false;
  }

  private monthMask(year: number, month: number): DayMask {
    return this.maskOf(lengthOf(year, month), (((firstDayOf(year, month) + 4) % 7) + 7) % 7);
  }

  private maskOf(length: number, first: number): DayMask {
    const index = (length - 28) * 7 + first;
    const known = this.masks[index] as number;
    return known >= 0 ? known : (this.masks[index] = this.days.maskOf(length, first));
  }
}

function lengthOf(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Days from 1970-01-01 to the 1st of a month: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil. */
function firstDayOf(year: number, month: number): number {
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.trunc((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5);
  const dayOfEra = yearOfEra * 365 + Math.trunc(yearOfEra / 4) - Math.trunc(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The inverse, civil_from_days of the same source. */
function dateOf(day: number): { year: number; month: number; dayOfMonth: number } {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.trunc(
    (dayOfEra -
      Math.trunc(dayOfEra / 1460) +
      Math.trunc(dayOfEra / 36_524) -
      Math.trunc(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.trunc(yearOfEra / 4) - Math.trunc(yearOfEra / 100));
  const shiftedMonth = Math.trunc((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    dayOfMonth: dayOfYear - Math.trunc((153 * shiftedMonth + 2) / 5) + 1,
  };
}
