/** How an expression is read: `unix` as crontabs are (0 and 7 = Sunday), `quartz` as that scheduler does (1 = Sunday, `?`, years). */
export type CronDialect = 'unix' | 'quartz';
export const CRON_DIALECTS = ['unix', 'quartz'] as const satisfies readonly CronDialect[];

export type FieldName = 'second' | 'minute' | 'hour' | 'day of month' | 'month' | 'day of week' | 'year';

/** What one field may hold; `names` stand for the values from `min` on. */
export interface FieldRule {
  readonly name: FieldName;
  readonly min: number;
  readonly max: number;
  /** How many different values there are: after the last of them the first comes again. */
  readonly size: number;
  readonly names: readonly string[];
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
export const LAST_YEAR = 2099;

const upToMonth: readonly FieldRule[] = [
  { name: 'second', min: 0, max: 59, size: 60, names: [] },
  { name: 'minute', min: 0, max: 59, size: 60, names: [] },
  { name: 'hour', min: 0, max: 23, size: 24, names: [] },
  { name: 'day of month', min: 1, max: 31, size: 31, names: [] },
  { name: 'month', min: 1, max: 12, size: 12, names: MONTHS },
];
const YEAR: FieldRule = { name: 'year', min: 1970, max: LAST_YEAR, size: LAST_YEAR - 1969, names: [] };

/** The most fields that a dialect takes, in order; with five the second is left out, with six the year. */
export const FIELD_RULES: Readonly<Record<CronDialect, readonly FieldRule[]>> = {
  unix: [...upToMonth, { name: 'day of week', min: 0, max: 7, size: 7, names: WEEKDAYS }],
  quartz: [...upToMonth, { name: 'day of week', min: 1, max: 7, size: 7, names: WEEKDAYS }, YEAR],
};

/** The number of a weekday as it is written, from 0 = Sunday to 6 = Saturday. */
export const weekdayOf = (value: number, { min }: FieldRule): number => (value - min) % 7;

export const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@minutely': '* * * * *',
  '@secondly': '* * * * * *',
  '@weekdays': '0 0 * * 1-5',
  '@weekends': '0 0 * * 0,6',
};

/** The value that a number or a name stands for, in range or not; NaN if it is neither. */
export function valueOf(token: string, { names, min }: FieldRule): number {
  if (/^\d+$/.test(token)) return Number(token);
  const index = names.indexOf(token.toUpperCase());
  return index < 0 ? NaN : min + index;
}
