import {
  CALENDAR_RULES,
  CALENDAR_SHIFTS,
  type CalendarReference,
  CalendarUse,
} from '../../domain/calendar-use.js';
import { cronProblems, DEFAULT_CRON } from '../../domain/cron.js';
import { jitterProblems } from '../../domain/schedule-problems.js';
import { MAX_INTERVAL_SEC, type Schedule } from '../../domain/schedule.js';
import { type FormerSchedule } from '../../domain/timetable.js';
import { isVersionKey, type KnownCalendars } from './stored-calendars.js';

/** A schedule from its JSON, maybe of an older ax; null if it is none. */
export function restoreSchedule(value: unknown, calendars: KnownCalendars): Schedule | null {
  if (typeof value !== 'object' || value === null) return null;
  const defaults = {
    ...('expr' in value ? DEFAULT_CRON : {}),
    ...('runAt' in value ? {} : { jitterSec: 0 }),
  };
  const schedule = { ...defaults, ...value } as Schedule;
  if (schedule.type !== 'cron' || schedule.calendar === null) return isSchedule(schedule) ? schedule : null;
  const calendar = restoreUse(schedule.calendar, calendars);
  return calendar !== null && isSchedule({ ...schedule, calendar }) ? { ...schedule, calendar } : null;
}

/** The use of a calendar from its reference; null if it is none, or that version is not there. */
export function restoreUse(reference: unknown, calendars: KnownCalendars): CalendarUse | null {
  if (!isVersionKey(reference)) return null;
  const { rule, shift } = reference as Partial<CalendarReference>;
  const days = calendars.find(reference);
  if (days === undefined || !isAmong(CALENDAR_RULES, rule) || !isAmong(CALENDAR_SHIFTS, shift)) return null;
  return new CalendarUse(days, rule, shift);
}

const isAmong = <T>(words: readonly T[], value: unknown): value is T => words.includes(value as T);

/** The schedules before the latest edits from their JSON; null if they are none. */
export function restoreFormer(value: unknown, calendars: KnownCalendars): readonly FormerSchedule[] | null {
  if (!Array.isArray(value)) return null;
  const former: FormerSchedule[] = [];
  for (const part of value as readonly (Partial<FormerSchedule> | null)[]) {
    const schedule = restoreSchedule(part?.schedule, calendars);
    const until = part?.until;
    if (schedule === null || until === undefined || !Number.isSafeInteger(until)) return null;
    former.push({ schedule, until });
  }
  return former;
}

export const isInstantOrNull = (value: unknown): boolean => value === null || Number.isSafeInteger(value);

function isSchedule(schedule: Schedule): boolean {
  switch (schedule.type) {
    case 'once':
      return Number.isSafeInteger(schedule.runAt);
    case 'interval': {
      const { everySec, anchorAt } = schedule;
      const isStep = Number.isInteger(everySec) && everySec >= 1 && everySec <= MAX_INTERVAL_SEC;
      return isStep && Number.isSafeInteger(anchorAt) && isBounded(schedule);
    }
    case 'cron':
      return cronProblems(schedule).length === 0 && isBounded(schedule);
    default:
      return false;
  }
}

const isBounded = ({ startAt, endAt, jitterSec }: Exclude<Schedule, { readonly type: 'once' }>): boolean =>
  isInstantOrNull(startAt) && isInstantOrNull(endAt) && jitterProblems(jitterSec).length === 0;
