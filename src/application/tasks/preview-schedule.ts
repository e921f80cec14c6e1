import { calendarWarnings } from '../../domain/calendar-warnings.js';
import { movedWords } from '../../domain/calendar-words.js';
import { assertPreview } from '../../domain/schedule-problems.js';
import { FireTimes, type Schedule } from '../../domain/schedule.js';
import { changeWords, scheduleWords, type ScheduleWords } from '../../domain/schedule-words.js';

/** What a schedule means and when it fires. */
export interface SchedulePreview extends ScheduleWords {
  readonly schedule: Schedule;
  /** In order; `note` says what is special about a fire time, null if nothing is. Epoch ms. */
  readonly fires: readonly { readonly slot: number; readonly note: string | null }[];
}

/**
 * The first `n` fire times strictly after `from`, fewer if there are no more. Warnings are those of `now`.
 * @throws InvalidInput with every problem of the schedule; that it has ended is none.
 */
export function previewSchedule(
  schedule: Schedule,
  { from, n, now }: { readonly from: number; readonly n: number; readonly now: number },
): SchedulePreview {
  assertPreview(schedule);
  const times = new FireTimes();
  const fires: { slot: number; note: string | null }[] = [];
  for (let slot = times.nextFiring(schedule, from); slot !== null && fires.length < n;) {
    fires.push({ slot, note: noteOf(schedule, slot, times) });
    slot = times.nextFiring(schedule, slot);
  }
  const { description, warnings } = scheduleWords(schedule);
  return { schedule, description, warnings: [...warnings, ...calendarWarnings(schedule, now)], fires };
}

function noteOf(schedule: Schedule, slot: number, times: FireTimes): string | null {
  const change = times.noteOf(schedule, slot);
  const movedFrom = times.movedFrom(schedule, slot);
  const notes = [
    ...(change === null ? [] : [changeWords(change)]),
    ...(movedFrom === null || schedule.type !== 'cron' || schedule.calendar === null
      ? []
      : [movedWords(movedFrom, schedule.calendar)]),
  ];
  return notes.length === 0 ? null : notes.join('; ');
}
