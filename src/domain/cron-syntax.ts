import { type FieldProblem } from './errors.js';

/** What one field of a cron expression may hold; `names` stand for the values from `min` on. */
interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const DAY_OF_MONTH: FieldRule = { name: 'day of month', min: 1, max: 31, names: [] };
const DAY_OF_WEEK: FieldRule = { name: 'day of week', min: 0, max: 7, names: WEEKDAYS };
const RULES: readonly FieldRule[] = [
  { name: 'second', min: 0, max: 59, names: [] },
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  DAY_OF_MONTH,
  { name: 'month', min: 1, max: 12, names: MONTHS },
  DAY_OF_WEEK,
];

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@minutely': '* * * * *',
  '@secondly': '* * * * * *',
  '@weekdays': '0 0 * * 1-5',
  '@weekends': '0 0 * * 0,6',
};
export const MAX_CRON_LENGTH = 512;
/** Day of week only: the last one of the month (`5L`), or the nth (`5#3`). */
const LAST_OR_NTH = /^([^#]+?)(?:L|#[1-5])$/;
/** `*`, a value or a range, each with an optional step. */
const ITEM = /^(?:[*?]|([A-Z\d]+)(?:-([A-Z\d]+))?)(?:\/(\d+))?$/i;
const RANDOM = /(^|[^A-Z])H([^A-Z]|$)/i;

export const CRON_FIX =
  'give five fields (minute hour day-of-month month day-of-week) or six (second first), divided by blanks';

/** Fields divided by single blanks; blanks and tabs around and between them do not count, and macros are spelled out. */
export function normalCron(expr: string): string {
  const text = expr.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '');
  return Object.hasOwn(MACROS, text) ? (MACROS[text] as string) : text;
}

/**
 * Every broken rule of an expression in normal form, on field `cron_expr`; empty when it is well formed. Whether a date exists that it
 * matches is not looked at.
 */
export function cronSyntaxProblems(text: string): FieldProblem[] {
  const refuse = (problem: string, fix: string): FieldProblem => ({ field: 'cron_expr', problem, fix });
  if (text.length > MAX_CRON_LENGTH) {
    return [refuse(`is ${text.length} characters long`, `use at most ${MAX_CRON_LENGTH}`)];
  }
  const fields = text === '' ? [] : text.split(' ');
  if (fields.length !== 5 && fields.length !== 6) {
    return [refuse(`"${text}" has ${fields.length} fields`, CRON_FIX)];
  }
  return fields.flatMap((field, i) => {
    const rule = RULES[i + RULES.length - fields.length] as FieldRule;
    return field.split(',').flatMap((item) => {
      const problem = itemProblem(item, rule);
      return problem === null ? [] : [refuse(`${rule.name}: ${problem}`, fixFor(rule))];
    });
  });
}

function itemProblem(item: string, rule: FieldRule): string | null {
  if (item === '') return 'a list has an empty item';
  if (RANDOM.test(item)) return `"${item}" stands for a random value`;
  if (rule === DAY_OF_MONTH && item === 'L') return null;
  const plain = rule === DAY_OF_WEEK ? item.replace(LAST_OR_NTH, '$1') : item;
  const match = ITEM.exec(plain);
  const isModified = plain !== item;
  if (match === null || (isModified && (match[1] === undefined || plain !== match[1]))) {
    return `"${item}" is not supported`;
  }
  const [, first, last, step] = match;
  const from = first === undefined ? rule.min : valueOf(first, rule);
  const to = last === undefined ? from : valueOf(last, rule);
  if (Number.isNaN(from) || Number.isNaN(to)) return `"${item}" is not supported`;
  if ([from, to].some((value) => value < rule.min || value > rule.max)) return `"${item}" is out of range`;
  if (from > to) return `"${item}" runs backwards`;
  return step !== undefined && Number(step) === 0 ? `"${item}" has a step of zero` : null;
}

function valueOf(token: string, rule: FieldRule): number {
  if (/^\d+$/.test(token)) return Number(token);
  const index = rule.names.indexOf(token.toUpperCase());
  return index < 0 ? NaN : rule.min + index;
}

function fixFor(rule: FieldRule): string {
  const names = rule.names.length === 0 ? '' : ` or ${rule.names[0]} to ${rule.names.at(-1)}`;
  return `use "*", values from ${rule.min} to ${rule.max}${names}, ranges "a-b", lists "a,b" and steps "*/n"`;
}
