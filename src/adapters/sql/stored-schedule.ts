import { cronProblems, DEFAULT_CRON } from '../../domain/cron.js';
import { jitterProblems } from '../../domain/schedule-problems.js';
import { MAX_INTERVAL_SEC, type Schedule } from '../../domain/schedule.js';
import { type FormerSchedule } from '../../domain/timetable.js';

/** A schedule from its JSON, maybe of an older ax; null if it is none. */
export function restoreSchedule(value: unknown): Schedule | null {
  if (typeof value !== 'object' || value === null) return null;
  const defaults = {
    ...('expr' in value ? DEFAULT_CRON : {}),
    ...('runAt' in value ? {} : { jitterSec: 0 }),
  };
  const schedule = { ...defaults, ...value } as Schedule;
  return isSchedule(schedule) ? schedule : null;
}

/** The schedules before the latest edits from their JSON; null if they are none. */
export function restoreFormer(value: unknown): readonly FormerSchedule[] | null {
  if (!Array.isArray(value)) return null;
  const former: FormerSchedule[] = [];
  for (const part of value as readonly (Partial<FormerSchedule> | null)[]) {
    const schedule = restoreSchedule(part?.schedule);
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
