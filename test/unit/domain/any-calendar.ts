import fc from 'fast-check';
import {
  CALENDAR_RULES,
  CALENDAR_SHIFTS,
  type CalendarRule,
  type CalendarShift,
} from '../../../src/domain/calendar-use.js';
import { type Calendar, type Weekday, WEEKDAYS } from '../../../src/domain/calendar.js';
import { buildCalendar, listed } from '../../support/calendars.js';
import { type DrawnCron } from './any-cron.js';

const DAY_MS = 86_400_000;

/** A calendar and a way to use it, with what they mean, worked out from how they were drawn; `wall` as in DrawnCron. */
export interface DrawnUse {
  readonly calendar: Calendar;
  readonly rule: CalendarRule;
  readonly shift: CalendarShift;
  readonly excludes: (wall: number) => boolean;
  /** The same cron with its excluded days moved. */
  readonly shifted: (cron: DrawnCron) => DrawnCron;
}

const dateOf = (wall: number): string => new Date(wall).toISOString().slice(0, 10);
const clockOf = (wall: number): string => new Date(wall).toISOString().slice(11, 19);

/** Calendars with days in `[from, to)` (epoch ms). */
export const anyUse = (from: number, to: number): fc.Arbitrary<DrawnUse> => {
  const day = fc
    .integer({ min: Math.floor(from / DAY_MS), max: Math.floor(to / DAY_MS) - 1 })
    .map((number) => dateOf(number * DAY_MS));
  const time = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00`);
  const span = fc
    .tuple(time, fc.oneof(time, fc.constant('24:00:00')))
    .filter(([a, b]) => a !== b)
    .map(([a, b]) => (a < b ? { from: a, to: b } : { from: b, to: a }));
  return fc
    .record({
      weekend: fc.oneof(fc.constant<Weekday[]>([0, 6]), fc.subarray<Weekday>([...WEEKDAYS])),
      days: fc.uniqueArray(day, { maxLength: 12 }),
      split: fc.nat(12),
      excludedTimes: fc.array(span, { maxLength: 2 }),
      rule: fc.constantFrom(...CALENDAR_RULES),
      shift: fc.constantFrom(...CALENDAR_SHIFTS),
    })
    .map(({ weekend, days, split, excludedTimes, rule, shift }) => {
      const [holidays, workdays] = [days.slice(0, split), days.slice(split)];
      const isWorkday = (wall: number) =>
        workdays.includes(dateOf(wall)) ||
        (!holidays.includes(dateOf(wall)) && !weekend.some((n) => n === new Date(wall).getUTCDay()));
      const excludesDay = (wall: number) => {
        if (rule === 'workdays') return !isWorkday(wall);
        return holidays.includes(dateOf(wall)) === (rule === 'skip_holidays');
      };
      const step = shift === 'next_workday' ? -DAY_MS : DAY_MS;
      const shifted = (cron: DrawnCron): DrawnCron => {
        const matches = (wall: number) => {
          if (cron.matches(wall) && !excludesDay(wall)) return true;
          if (!isWorkday(wall)) return false;
          for (
            let source = wall + step;
            !isWorkday(source) && Math.abs(source - wall) < 400 * DAY_MS;
            source += step
          )
            if (excludesDay(source) && cron.matches(source)) return true;
          return false;
        };
        return shift === 'none' || rule === 'holidays' ? cron : { ...cron, matches };
      };
      return {
        calendar: buildCalendar({
          weekend,
          holidays: listed(...holidays),
          workdays: listed(...workdays),
          excludedTimes,
        }),
        rule,
        shift: rule === 'holidays' ? ('none' as const) : shift,
        excludes: (wall: number) =>
          excludesDay(wall) ||
          excludedTimes.some((span) => span.from <= clockOf(wall) && clockOf(wall) < span.to),
        shifted,
      };
    });
};
