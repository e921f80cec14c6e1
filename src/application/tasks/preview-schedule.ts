import { calendarWarnings } from '../../domain/calendar-warnings.js';
import { movedWords } from '../../domain/calendar-words.js';
import { fireAt } from '../../domain/jitter.js';
import { assertPreview } from '../../domain/schedule-problems.js';
import { FireTimes, type Schedule } from '../../domain/schedule.js';
import { changeWords, scheduleWords, type ScheduleWords } from '../../domain/schedule-words.js';
import { TaskSlots } from '../../domain/timetable.js';

/** Instants are epoch ms. */
export interface PreviewedFire {
  readonly slot: number;
  /** With its jitter; null: that depends on the task's id. */
  readonly firesAt: number | null;
  /** What is special about it; null if nothing is. */
  readonly note: string | null;
}

/** What a schedule means and when it fires, in order. */
export interface SchedulePreview extends ScheduleWords {
  readonly schedule: Schedule;
  readonly fires: readonly PreviewedFire[];
}

/**
 * The first `n` fire times strictly after `from`, fewer if there are no more; `taskId` (null: none yet) draws their jitter. Warnings are those of `now`.
 * @throws InvalidInput with every problem of the schedule; that it has ended is none.
 */
export function previewSchedule(
  schedule: Schedule,
  {
    from,
    n,
    now,
    taskId = null,
  }: { readonly from: number; readonly n: number; readonly now: number; readonly taskId?: string | null },
): SchedulePreview {
  assertPreview(schedule);
  const times = new FireTimes();
  const slots = new TaskSlots({ schedule, former: [] }, times);
  const fires: PreviewedFire[] = [];
  for (let slot = times.nextFiring(schedule, from); slot !== null && fires.length < n;) {
    const isUnknown = taskId === null && slots.jitterMsOf(slot) > 0;
    const firesAt = isUnknown ? null : fireAt(slots, taskId ?? '', slot);
    fires.push({ slot, firesAt, note: noteOf(schedule, slot, times) });
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
