import { readFileSync } from 'node:fs';
import { checked } from '../adapters/http/field-problems.js';
import { instantText, localText } from '../adapters/http/instant.js';
import { previewJson, zoneOf } from '../adapters/http/schedule-routes.js';
import { VERIFY_RANGE } from '../adapters/http/verify-routes.js';
import { previewSchedule, type SchedulePreview } from '../application/tasks/preview-schedule.js';
import { type DstGap, type DstOverlap } from '../domain/cron.js';
import { type CronDialect } from '../domain/cron/cron-fields.js';
import { InvalidInput } from '../domain/errors.js';
import { type CrontabEntry, readCrontab } from './crontab.js';

export interface NextOptions {
  readonly tz: string;
  readonly count: number;
  readonly dialect: CronDialect;
  readonly dstGap: DstGap;
  readonly dstOverlap: DstOverlap;
  readonly from?: string;
  readonly json?: boolean;
}

/**
 * Prints what an expression means and when it fires, or that of each line of the crontab on standard input if there is no expression. Says
 * whether all could be read.
 * @throws InvalidInput on a bad expression, zone or `from`.
 */
export function next(expr: string | undefined, options: NextOptions): boolean {
  const now = Date.now();
  if (expr !== undefined) {
    process.stdout.write(nextText(expr, options, now));
    return true;
  }
  const { text, isClean } = crontabText(readFileSync(0, 'utf8'), options, now);
  process.stdout.write(text);
  return isClean;
}

/** One expression, as lines or as the JSON of `POST /api/schedules/preview`. */
export function nextText(expr: string, options: NextOptions, now: number): string {
  const preview = previewOf(expr, options.tz, options, now);
  return options.json === true ? `${JSON.stringify(previewJson(preview))}\n` : lines(preview).join('');
}

/** The jobs of a crontab, as lines or as a JSON list; a job that cannot be read shows why and does not stop the others. */
export function crontabText(
  crontab: string,
  options: NextOptions,
  now: number,
): { readonly text: string; readonly isClean: boolean } {
  const results = readCrontab(crontab).map((entry) => ({ entry, ...read(entry, options, now) }));
  const text =
    options.json === true
      ? `${JSON.stringify(results.map(entryJson))}\n`
      : results.map((result) => entryLines(result)).join('\n');
  return { text, isClean: results.every(({ refusal }) => refusal === null) };
}

interface Result {
  readonly entry: CrontabEntry;
  readonly preview: SchedulePreview | null;
  readonly refusal: InvalidInput | null;
}

function read(entry: CrontabEntry, options: NextOptions, now: number): Omit<Result, 'entry'> {
  try {
    const timezone = entry.timezone ?? options.tz;
    return { preview: previewOf(entry.expr, timezone, options, now), refusal: null };
  } catch (error) {
    if (error instanceof InvalidInput) return { preview: null, refusal: error };
    throw error;
  }
}

function previewOf(expr: string, timezone: string, options: NextOptions, now: number): SchedulePreview {
  const { from = now } = checked(VERIFY_RANGE, { from: options.from });
  const { dialect, dstGap, dstOverlap, count } = options;
  const rule = { expr, timezone, dialect, dstGap, dstOverlap };
  return previewSchedule(
    { type: 'cron', ...rule, calendar: null, startAt: null, endAt: null, jitterSec: 0 },
    { from, n: count, now },
  );
}

const entryJson = ({ entry: { line, expr, command }, preview, refusal }: Result) => ({
  line,
  cron_expr: expr,
  command,
  ...(preview === null ? { errors: refusal?.problems } : previewJson(preview)),
});

function entryLines({ entry: { line, expr, command }, preview, refusal }: Result): string {
  const told =
    preview === null
      ? (refusal?.problems ?? []).map(({ field, problem, fix }) => `error: ${field}: ${problem}; ${fix}\n`)
      : lines(preview);
  return [`line ${line}: ${expr}  ${command}`.trimEnd(), '\n', ...told.map((one) => `  ${one}`)].join('');
}

function lines({ schedule, description, warnings, fires }: SchedulePreview): string[] {
  const timezone = zoneOf(schedule);
  const weekday = new Intl.DateTimeFormat('en', { timeZone: timezone, weekday: 'short' });
  return [
    `${description.en}\n`,
    `${description.zh}\n`,
    ...warnings.map((warning) => `warning: ${warning}\n`),
    ...fires.map(({ slot, note }) => {
      const local = `${weekday.format(slot)} ${localText(slot, timezone)}`;
      return `${instantText(slot)}  ${local}${note === null ? '' : `  ${note}`}\n`;
    }),
  ];
}
