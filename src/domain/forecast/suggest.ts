import { type Schedule } from '../schedule.js';
import { type Beats, MINUTE_MS } from './beats.js';
import { type MinuteRange } from './load.js';
import { type FieldValues, shiftSchedule } from './shift-schedule.js';

/** What the owner of a task can set so that it starts beside a collision. */
export interface Suggestion {
  readonly taskId: string;
  readonly fields: FieldValues;
  /** When it would start instead, epoch ms of the minute; null where starts are spread by chance. */
  readonly movesTo: number | null;
  /** Starts of other tasks in the fullest minute that it would move to; null as above. */
  readonly startsThere: number | null;
}

/** As far as a task is moved. */
const MAX_SHIFT_MIN = 30;
const MAX_JITTER_SEC = 900;

/** Nearest first, later before earlier. */
const SHIFTS = Array.from({ length: 2 * MAX_SHIFT_MIN }, (_, i) => (i % 2 === 0 ? 1 : -1) * (1 + (i >> 1)));

/**
 * A better place for one of the tasks that collide in a minute: the nearest one in which the fewest start, over all starts of the task;
 * where that helps nothing or cannot be written, jitter. `starts` has those of all tasks by minute and is changed as if the
 * suggestion was followed, so that two of them do not meet again. Null if there is none.
 */
export function suggest(
  task: { readonly id: string; readonly schedule: Schedule },
  beats: Beats,
  minute: number,
  starts: Uint32Array,
  range: MinuteRange,
): Suggestion | null {
  const minutes = beats.firstAt.map((at) => Math.floor((at - range.begin) / MINUTE_MS));
  const start = beats.firstAt[minutes.indexOf(minute)];
  const here = starts[minute] ?? 0;
  if (start === undefined || here < 2) return null;
  const best = bestShift(task.schedule, minutes, start, starts);
  if (best !== null && best.startsThere + 1 < here) {
    move(minutes, beats.starts, best.shift, starts);
    const movesTo = range.begin + (minute + best.shift) * MINUTE_MS;
    return { taskId: task.id, fields: best.fields, movesTo, startsThere: best.startsThere };
  }
  const jitterSec = jitterFor(here, beats, starts);
  if (jitterSec === null) return null;
  return { taskId: task.id, fields: { jitter_sec: jitterSec }, movesTo: null, startsThere: null };
}

function bestShift(
  schedule: Schedule,
  minutes: readonly number[],
  start: number,
  starts: Uint32Array,
): { readonly shift: number; readonly fields: FieldValues; readonly startsThere: number } | null {
  let best: ReturnType<typeof bestShift> = null;
  for (const shift of SHIFTS) {
    const fields = shiftSchedule(schedule, shift, start);
    if (fields === null) continue;
    const startsThere = minutes.reduce((most, at) => Math.max(most, starts[at + shift] ?? 0), 0);
    if (best === null || startsThere < best.startsThere) best = { shift, fields, startsThere };
    if (startsThere === 0) break;
  }
  return best;
}

function move(minutes: readonly number[], counts: readonly number[], shift: number, starts: Uint32Array) {
  for (const [i, at] of minutes.entries()) {
    const count = counts[i] ?? 0;
    starts[at] = Math.max(0, (starts[at] ?? 0) - count);
    starts[at + shift] = (starts[at + shift] ?? 0) + count;
  }
}

/** Spreads so many starts down to what is usual in the range, over half the time between two starts of the task at most. */
function jitterFor(here: number, { gapMs }: Beats, starts: Uint32Array): number | null {
  const usual = Math.max(1, Math.ceil(starts.reduce((sum, count) => sum + count, 0) / starts.length));
  const wanted = 60 * Math.ceil(here / usual);
  const seconds = Math.min(wanted, MAX_JITTER_SEC, Math.floor(gapMs / 2000));
  return seconds >= 60 ? seconds : null;
}
