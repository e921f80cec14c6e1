import { type CronDialect, FIELD_RULES, type FieldName, type FieldRule, MACROS } from './cron-fields.js';
import { type CronProblem, cronProblem, type Token } from './cron-problem.js';
import { type CronItem, LONE_QUESTION_MARK, parseItem } from './parse-item.js';

/** A field as it was written. */
export interface ParsedField extends Token {
  readonly rule: FieldRule;
  readonly items: readonly CronItem[];
}

/** The fields of an expression by name; the second and the year may be left out. */
export type ParsedFields = Readonly<Record<Exclude<FieldName, 'second' | 'year'>, ParsedField>> & {
  readonly second: ParsedField | null;
  readonly year: ParsedField | null;
};

export const MAX_CRON_LENGTH = 512;

const FIX: Readonly<Record<CronDialect, string>> = {
  unix: 'give five fields (minute hour day-of-month month day-of-week) or six (second first), divided by blanks',
  quartz:
    'give six fields (second minute hour day-of-month month day-of-week), or seven (year last), divided by blanks',
};

/**
 * Reads an expression: fields are divided by blanks or tabs, those around them do not count, and a macro is what it stands for. All
 * problems are found; the fields are null if there are any. Whether a date exists that matches is not looked at.
 */
export function parseCronText(
  expr: string,
  dialect: CronDialect,
): { readonly fields: ParsedFields | null; readonly problems: readonly CronProblem[] } {
  const whole: Token = { text: expr, position: 1 };
  const refuse = (problem: CronProblem) => ({ fields: null, problems: [problem] });
  if (expr.length > MAX_CRON_LENGTH) {
    const fix = `use at most ${MAX_CRON_LENGTH}`;
    return refuse(cronProblem('too_long', whole, `is ${expr.length} characters long`, fix));
  }
  const tokens = split(expr, /[^ \t]+/g);
  const macro = MACROS[tokens[0]?.text ?? ''];
  if (tokens.length === 1 && macro !== undefined) return parseCronText(macro, 'unix');
  const rules = rulesFor(tokens.length, dialect);
  if (rules === null) {
    return refuse(cronProblem('field_count', whole, `has ${tokens.length} fields`, FIX[dialect]));
  }
  const problems: CronProblem[] = [];
  const fields = new Map(
    rules.map((rule, i) => [rule.name, parseField(tokens[i] as Token, rule, dialect, problems)]),
  );
  const parsed = { second: null, year: null, ...Object.fromEntries(fields) } as ParsedFields;
  if (problems.length === 0 && dialect === 'quartz') problems.push(...dayFieldProblems(parsed));
  return { fields: problems.length === 0 ? parsed : null, problems };
}

/** Null if the dialect has no expression with so many fields. */
function rulesFor(count: number, dialect: CronDialect): readonly FieldRule[] | null {
  const rules = FIELD_RULES[dialect];
  if (count === 5) return rules.slice(1, 6);
  return count === 6 || count === rules.length ? rules.slice(0, count) : null;
}

function parseField(
  token: Token,
  rule: FieldRule,
  dialect: CronDialect,
  problems: CronProblem[],
): ParsedField {
  const items: CronItem[] = [];
  for (const { text, position } of split(token.text, /[^,]+|(?<=^|,)(?=,|$)/g)) {
    const part = { text, position: token.position + position - 1 };
    const isMisplaced = dialect === 'quartz' && text.startsWith('?') && !(token.text === '?' && isDay(rule));
    const item = isMisplaced ? LONE_QUESTION_MARK : parseItem(part, rule, dialect);
    if ('kind' in item) items.push(item);
    else problems.push(cronProblem(item.fault, part, item.problem, item.fix ?? fixFor(rule), rule.name));
  }
  return { ...token, rule, items };
}

const isDay = ({ name }: FieldRule): boolean => name === 'day of month' || name === 'day of week';

/** What matches `pattern`, with its place in `text`. */
const split = (text: string, pattern: RegExp): Token[] =>
  [...text.matchAll(pattern)].map((match) => ({ text: match[0], position: match.index + 1 }));

function dayFieldProblems({ 'day of month': day, 'day of week': weekday }: ParsedFields): CronProblem[] {
  const isOpen = [day, weekday].filter(({ text }) => text === '?').length;
  if (isOpen === 1) return [];
  const problem = isOpen === 0 ? 'goes together with no "?"' : 'goes together with another "?"';
  const fix = 'give "?" in exactly one of day of month and day of week, or set cron_dialect to "unix"';
  return [cronProblem('day_fields', weekday, problem, fix, weekday.rule.name)];
}

function fixFor({ name, min, max, names }: FieldRule): string {
  const named = names.length === 0 ? '' : ` or ${names[0]} to ${names.at(-1)}`;
  const more = { 'day of month': ', "L", "L-n", "nW", "LW"', 'day of week': ', "nL", "n#1" to "n#5"' };
  const modifiers = name in more ? more[name as keyof typeof more] : '';
  return `use "*", values from ${min} to ${max}${named}, ranges "a-b", lists "a,b", steps "*/n"${modifiers}`;
}
