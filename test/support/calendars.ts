import { CalendarDays } from '../../src/domain/calendar-days.js';
import { type CalendarRule, type CalendarShift, CalendarUse } from '../../src/domain/calendar-use.js';
import { type Calendar, type CalendarDay } from '../../src/domain/calendar.js';

export const listed = (...dates: readonly string[]): CalendarDay[] =>
  dates.map((date) => ({ date, name: null }));

/** Saturdays and Sundays, no holidays. */
export const buildCalendar = (overrides: Partial<Calendar> = {}): Calendar => ({
  name: 'works',
  description: '',
  weekend: [0, 6],
  holidays: [],
  workdays: [],
  excludedTimes: [],
  knownUntil: null,
  version: 1,
  ...overrides,
});

export const buildUse = (
  overrides: Partial<Calendar> = {},
  rule: CalendarRule = 'workdays',
  shift: CalendarShift = 'none',
): CalendarUse => new CalendarUse(new CalendarDays(buildCalendar(overrides)), rule, shift);
