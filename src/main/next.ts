import { DEFAULT_CRON } from '../domain/cron.js';
import { FireTimes, type Schedule, assertSchedule } from '../domain/schedule.js';

/**
 * Prints the next `count` fire times, one a line: UTC, then the wall clock of the zone.
 * @throws InvalidInput on a bad expression or zone.
 */
export function printNext(expr: string, timezone: string, count: number): void {
  const schedule: Schedule = { type: 'cron', expr, timezone, ...DEFAULT_CRON, startAt: null, endAt: null };
  const now = Date.now();
  assertSchedule(schedule, now);
  const times = new FireTimes();
  const local = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  });
  let slot = times.next(schedule, now);
  for (let i = 0; i < count && slot !== null; i++) {
    process.stdout.write(`${new Date(slot).toISOString()}  ${local.format(slot)}\n`);
    slot = times.next(schedule, slot);
  }
}
