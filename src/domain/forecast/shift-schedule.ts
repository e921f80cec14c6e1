import { MACROS } from '../cron/cron-fields.js';
import { type CronSchedule, type Schedule } from '../schedule.js';
import { MINUTE_MS } from './beats.js';

/** Fields of a task as its owner would set them in the API. */
export type FieldValues = Readonly<Record<string, string | number>>;

/**
 * The fields that make a schedule fire so many minutes later (or earlier), day and hour as they are; null if that cannot be said so
 * simply. `start` is one of its fire times, epoch ms.
 */
export function shiftSchedule(schedule: Schedule, minutes: number, start: number): FieldValues | null {
  switch (schedule.type) {
    case 'cron': {
      const expr = shiftCron(schedule, minutes);
      return expr === null ? null : { cron_expr: expr };
    }
    case 'interval':
      return minutes < 1 || minutes * 60 >= schedule.everySec
        ? null
        : { start_at: new Date(start + minutes * MINUTE_MS).toISOString() };
    case 'once':
      return minutes < 1 ? null : { run_at: new Date(schedule.runAt + minutes * MINUTE_MS).toISOString() };
  }
}

/** Whether it can be moved by a minute at least. */
export const canShift = (schedule: Schedule, start: number): boolean =>
  [1, -1].some((minutes) => shiftSchedule(schedule, minutes, start) !== null);

function shiftCron({ expr, dialect }: CronSchedule, minutes: number): string | null {
  const macro = MACROS[expr.trim()];
  // A macro is read as unix whatever the dialect is.
  if (macro !== undefined && dialect !== 'unix') return null;
  const fields = (macro ?? expr).trim().split(/[ \t]+/);
  const at = fields.length === 5 ? 0 : 1;
  const minute = shiftMinutes(fields[at] ?? '', minutes);
  return minute === null ? null : fields.with(at, minute).join(' ');
}

/** A list of values, or a step that divides the hour; within the hour. */
function shiftMinutes(field: string, minutes: number): string | null {
  if (/^\d+(,\d+)*$/.test(field)) {
    const values = field.split(',').map((value) => Number(value) + minutes);
    return values.every((value) => value >= 0 && value <= 59) ? values.join(',') : null;
  }
  const [, base, step] = /^(\*|\d+|\d+-59)\/(\d+)$/.exec(field) ?? [];
  if (base === undefined || 60 % Number(step) !== 0) return null;
  const first = (base === '*' ? 0 : Number.parseInt(base, 10)) + minutes;
  if (first < 0 || first >= Number(step)) return null;
  return first === 0 ? `*/${step}` : `${first}-59/${step}`;
}
