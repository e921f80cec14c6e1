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
 * The first `n` fire times strictly after `from`, fewer if there are no more.
 * @throws InvalidInput with every problem of the schedule; that it has ended is none.
 */
export function previewSchedule(schedule: Schedule, from: number, n: number): SchedulePreview {
  assertPreview(schedule);
  const times = new FireTimes();
  const fires: { slot: number; note: string | null }[] = [];
  for (let slot = times.next(schedule, from); slot !== null && fires.length < n;) {
    const note = times.noteOf(schedule, slot);
    fires.push({ slot, note: note === null ? null : changeWords(note) });
    slot = times.next(schedule, slot);
  }
  return { schedule, ...scheduleWords(schedule), fires };
}
