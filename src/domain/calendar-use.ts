import { type CalendarDays } from './calendar-days.js';
import { dateOfDay } from './calendar.js';
import { type FieldProblem } from './errors.js';

/** Which days a task fires on: working days only, listed holidays only, or all but those. */
export type CalendarRule = 'workdays' | 'holidays' | 'skip_holidays';
export const CALENDAR_RULES = [
  'workdays',
  'holidays',
  'skip_holidays',
] as const satisfies readonly CalendarRule[];

/** Where a slot on an excluded day goes: nowhere, or to a working day near by. */
export type CalendarShift = 'none' | 'next_workday' | 'previous_workday';
export const CALENDAR_SHIFTS = [
  'none',
  'next_workday',
  'previous_workday',
] as const satisfies readonly CalendarShift[];

export const DEFAULT_RULE: CalendarRule = 'workdays';

/** A reference to one version of a calendar, as it is stored. */
export interface CalendarReference {
  readonly name: string;
  readonly version: number;
  readonly rule: CalendarRule;
  readonly shift: CalendarShift;
}

/** Why a slot is left out: its day, or its time of the day. */
export interface Exclusion extends CalendarReference {
  readonly by: 'day' | 'time';
  /** Local, `YYYY-MM-DD`. */
  readonly date: string;
  /** What the calendar calls that day; null if nothing. */
  readonly dayName: string | null;
}

const DAY_MS = 86_400_000;

/**
 * How a cron schedule uses one version of a calendar. Days and times are those that clocks in the zone of the schedule show, written as
 * the epoch ms of a clock in UTC (`wall`). As JSON it is the reference alone.
 */
export class CalendarUse {
  constructor(
    readonly days: CalendarDays,
    readonly rule: CalendarRule,
    readonly shift: CalendarShift,
  ) {}

  /** Equal for equal uses: a version of a calendar never changes. */
  get key(): string {
    const { name, version } = this.days.calendar;
    return `${name}@${version}|${this.rule}|${this.shift}`;
  }

  /** Of a day counted from 1970-01-01. */
  isExcludedDay(day: number): boolean {
    switch (this.rule) {
      case 'workdays':
        return !this.days.isWorkday(day);
      case 'holidays':
        return !this.days.isHoliday(day);
      case 'skip_holidays':
        return this.days.isHoliday(day);
    }
  }

  /** Whether a wall time is left out, and the wall times of its day around it, `[from, to)`, of which the same is true. */
  spanAt(wall: number): {
    readonly excludedBy: 'day' | 'time' | null;
    readonly from: number;
    readonly to: number;
  } {
    const midnight = Math.floor(wall / DAY_MS) * DAY_MS;
    if (this.isExcludedDay(midnight / DAY_MS))
      return { excludedBy: 'day', from: midnight, to: midnight + DAY_MS };
    let from = midnight;
    for (const time of this.days.excludedTimes) {
      const [begin, end] = [midnight + time.from, midnight + time.to];
      if (wall < begin) return { excludedBy: null, from, to: begin };
      if (wall < end) return { excludedBy: 'time', from: begin, to: end };
      from = end;
    }
    return { excludedBy: null, from, to: midnight + DAY_MS };
  }

  /** Why a wall time is left out; null if it is not. */
  exclusionAt(wall: number): Exclusion | null {
    const { excludedBy } = this.spanAt(wall);
    const day = Math.floor(wall / DAY_MS);
    if (excludedBy === null) return null;
    return { ...this.toJSON(), by: excludedBy, date: dateOfDay(day), dayName: this.days.nameOf(day) };
  }

  toJSON(): CalendarReference {
    const { name, version } = this.days.calendar;
    return { name, version, rule: this.rule, shift: this.shift };
  }
}

/** What is wrong with the way a calendar is used. */
export function calendarUseProblems(use: CalendarUse | null): FieldProblem[] {
  if (use === null || use.rule !== 'holidays' || use.shift === 'none') return [];
  const problem = `${use.shift} makes no sense with calendar_rule "holidays", which fires on those days`;
  return [{ field: 'calendar_shift', problem, fix: 'leave it out, or use another calendar_rule' }];
}
