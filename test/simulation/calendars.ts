import { CalendarDays } from '../../src/domain/calendar-days.js';
import { CalendarUse } from '../../src/domain/calendar-use.js';
import { buildCalendar } from '../support/calendars.js';
import { type LeftOut } from './plan.js';

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));
const two = (minute: number): string => String(minute).padStart(2, '0');

/** Leaves minutes of every hour out; its name says which, so that the oracle needs no code of ax to know. */
export const calendarOf = ({ from, to }: LeftOut): CalendarUse =>
  new CalendarUse(
    new CalendarDays(
      buildCalendar({
        name: `minutes-${from}-${to}`,
        weekend: [],
        excludedTimes: HOURS.map((hour) => ({
          from: `${hour}:${two(from)}:00`,
          to: `${hour}:${two(to)}:00`,
        })),
      }),
    ),
    'workdays',
    'none',
  );
