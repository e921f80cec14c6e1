import { CalendarDays } from '../../src/domain/calendar-days.js';
import { type CalendarRule, type CalendarShift, CalendarUse } from '../../src/domain/calendar-use.js';
import { type Calendar, type CalendarDay, type CalendarDefinition } from '../../src/domain/calendar.js';

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

/** What its owner says of it. */
export const definitionOf = ({
  name,
  description,
  weekend,
  holidays,
  workdays,
  excludedTimes,
  knownUntil,
}: Calendar): CalendarDefinition => ({
  name,
  description,
  weekend,
  holidays,
  workdays,
  excludedTimes,
  knownUntil,
});

export const buildUse = (
  overrides: Partial<Calendar> = {},
  rule: CalendarRule = 'workdays',
  shift: CalendarShift = 'none',
): CalendarUse => new CalendarUse(new CalendarDays(buildCalendar(overrides)), rule, shift);
