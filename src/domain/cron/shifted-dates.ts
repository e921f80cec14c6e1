import { MAX_SHIFT_DAYS } from '../calendar-days.js';
import { type CalendarUse } from '../calendar-use.js';
import { type Dates } from './wall-pattern.js';

type Direction = 1 | -1;

/** Dates are looked for this far. */
const HORIZON_DAYS = 50 * 366;

/**
 * The dates of an expression with those that a calendar excludes moved to a working day near by, if there is one. Several dates that move to
 * one day are one; none moves past a working day.
 */
export class ShiftedDates implements Dates {
  private readonly direction: Direction;

  constructor(
    private readonly dates: Dates,
    private readonly use: CalendarUse,
  ) {
    this.direction = use.shift === 'previous_workday' ? -1 : 1;
  }

  atOrAfter(day: number): number | null {
    return this.search(day, 1);
  }

  atOrBefore(day: number): number | null {
    return this.search(day, -1);
  }

  /** The first date that moves to `day`; null if it is a date itself, or none moves there. */
  sourceOf(day: number): number | null {
    const first = this.direction > 0 ? this.beginOfRun(day, 1) : day;
    const last = this.direction > 0 ? day : this.beginOfRun(day, -1);
    if (this.dates.atOrAfter(day) === day && !this.use.isExcludedDay(day)) return null;
    let source = this.dates.atOrAfter(first);
    while (source !== null && source <= last && this.targetOf(source) !== day)
      source = this.dates.atOrAfter(source + 1);
    return source !== null && source <= last ? source : null;
  }

  /** The nearest target of a date, in a direction from `day` on. */
  private search(day: number, direction: Direction): number | null {
    const isAlong = direction === this.direction;
    let nearest: number | null = null;
    let source = this.dateFrom(isAlong ? this.beginOfRun(day, direction) : day, direction);
    while (source !== null && (source - day) * direction <= HORIZON_DAYS) {
      if (nearest !== null && this.isPast(source, nearest, direction)) break;
      const target = this.targetOf(source);
      const isNearer = target !== null && (nearest === null || (nearest - target) * direction > 0);
      if (isNearer && (target - day) * direction >= 0) nearest = target;
      source = this.dateFrom(source + direction, direction);
    }
    return nearest;
  }

  /** Whether neither `source` nor a date beyond it can have a target on the near side of `nearest`. */
  private isPast(source: number, nearest: number, direction: Direction): boolean {
    const least = direction === this.direction ? source : this.use.days.workdayFrom(source, this.direction);
    return least === null || (least - nearest) * direction >= 0;
  }

  /** The farthest day, against `direction`, from which only days without work lead to `day`. */
  private beginOfRun(day: number, direction: Direction): number {
    let begin = day;
    while (Math.abs(day - begin) < MAX_SHIFT_DAYS && !this.use.days.isWorkday(begin - direction))
      begin -= direction;
    return begin;
  }

  private targetOf(source: number): number | null {
    return this.use.isExcludedDay(source) ? this.use.days.workdayFrom(source, this.direction) : source;
  }

  private dateFrom(day: number, direction: Direction): number | null {
    return direction > 0 ? this.dates.atOrAfter(day) : this.dates.atOrBefore(day);
  }
}
