import { type CalendarDefinition, dayNumberOf } from './calendar.js';
import { FireTimes, type Schedule } from './schedule.js';

/** How long ahead it is told that a calendar runs out. */
export const WARN_DAYS = 60;
const DAY_MS = 86_400_000;

/** Epoch ms at which the last known day of a calendar ends, in UTC. */
export const endOfKnown = (knownUntil: string): number => ((dayNumberOf(knownUntil) ?? 0) + 1) * DAY_MS;

/** That a calendar runs out soon, or has; null if it does not. */
export function runsOut(
  { name, knownUntil }: Pick<CalendarDefinition, 'name' | 'knownUntil'>,
  now: number,
): string | null {
  if (knownUntil === null || endOfKnown(knownUntil) - now > WARN_DAYS * DAY_MS) return null;
  const verb = endOfKnown(knownUntil) <= now ? 'ended' : 'end';
  return `calendar: the known days of ${name} ${verb} on ${knownUntil}; after it there are no holidays: add those of the next year`;
}

/** What is special about the calendar of a schedule, one sentence each: it runs out, or leaves no slot. */
export function calendarWarnings(schedule: Schedule, now: number): string[] {
  if (schedule.type !== 'cron' || schedule.calendar === null) return [];
  const { calendar } = schedule.calendar.days;
  const end = runsOut(calendar, now);
  const isNever = new FireTimes().nextFiring(schedule, now) === null;
  return [
    ...(end === null ? [] : [end]),
    ...(isNever ? [`calendar: ${calendar.name} leaves no fire time (never_fires)`] : []),
  ];
}
