import { calendarUseProblems } from './calendar-use.js';
import { cronProblems, neverFires } from './cron.js';
import { type FieldProblem, InvalidInput } from './errors.js';
import { FireTimes, MAX_INTERVAL_SEC, MAX_JITTER_SEC, type Schedule } from './schedule.js';

/** Last instant that storage can keep. */
const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Refuses only what could never have fired, so that what has ended can still be looked at. @throws InvalidInput with every problem. */
export function assertPreview(schedule: Schedule): void {
  const problems = [...ownProblems(schedule), ...instantProblems(schedule)];
  if (problems.length > 0) throw new InvalidInput(problems);
}

/** What keeps a schedule from firing, by API field (`cron_expr`, `timezone`, `interval`, `run_at`, `start_at`, `end_at`, `jitter_sec`). */
export function scheduleProblems(schedule: Schedule, now: number): FieldProblem[] {
  const problems = [...ownProblems(schedule), ...instantProblems(schedule)];
  if (problems.length > 0) return problems;
  if (schedule.type !== 'once') return endProblems(schedule, now);
  const fix = 'give an instant in the future';
  return schedule.runAt > now ? [] : [{ field: 'run_at', problem: 'is in the past', fix }];
}

function ownProblems(schedule: Schedule): readonly FieldProblem[] {
  switch (schedule.type) {
    case 'cron':
      return [
        ...cronProblems(schedule),
        ...calendarUseProblems(schedule.calendar),
        ...jitterProblems(schedule.jitterSec),
      ];
    case 'interval':
      return [...intervalProblems(schedule.everySec), ...jitterProblems(schedule.jitterSec)];
    case 'once':
      return [];
  }
}

function intervalProblems(everySec: number): FieldProblem[] {
  if (Number.isInteger(everySec) && everySec >= 1 && everySec <= MAX_INTERVAL_SEC) return [];
  const fix = `give whole seconds from 1 to ${MAX_INTERVAL_SEC}`;
  return [{ field: 'interval', problem: `${everySec} is not a possible interval`, fix }];
}

/** What is wrong with `jitter_sec`. */
export function jitterProblems(jitterSec: number): FieldProblem[] {
  if (Number.isInteger(jitterSec) && jitterSec >= 0 && jitterSec <= MAX_JITTER_SEC) return [];
  const fix = `give whole seconds from 0 to ${MAX_JITTER_SEC}`;
  return [{ field: 'jitter_sec', problem: `${jitterSec} is not possible`, fix }];
}

function instantProblems(schedule: Schedule): FieldProblem[] {
  if (schedule.type === 'once') {
    const problem = badInstant('run_at', schedule.runAt);
    return problem === null ? [] : [problem];
  }
  const { startAt, endAt } = schedule;
  const problems = [badInstant('start_at', startAt), badInstant('end_at', endAt)].filter((p) => p !== null);
  if (problems.length === 0 && startAt !== null && endAt !== null && endAt < startAt) {
    problems.push({ field: 'end_at', problem: 'is before start_at', fix: 'give an instant after start_at' });
  }
  return problems;
}

function badInstant(field: string, instant: number | null): FieldProblem | null {
  if (instant === null || (Number.isInteger(instant) && instant >= 0 && instant <= MAX_INSTANT)) return null;
  const fix = 'give a whole millisecond in the years 1970 to 9999';
  return { field, problem: `${instant} is not a possible instant`, fix };
}

/** Whether any slot is left: `end_at` may come before it, and an expression may name years or only times that the clocks leave out. */
function endProblems(planned: Schedule, now: number): FieldProblem[] {
  const times = new FireTimes();
  // A calendar can be changed any day: that it leaves nothing is a warning.
  const schedule = planned.type === 'cron' ? { ...planned, calendar: null } : planned;
  if (times.next(schedule, now) !== null) return [];
  if (schedule.type === 'cron' && times.next({ ...schedule, endAt: null }, now) === null) {
    const from = Math.max(now, schedule.startAt ?? now);
    return [neverFires(schedule, `after ${new Date(from).toISOString()}`)];
  }
  return [
    {
      field: 'end_at',
      problem: 'no slot is left before it (never_fires)',
      fix: 'give an instant at or after the next fire time, or none',
    },
  ];
}
