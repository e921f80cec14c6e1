import { type CronDialect, type FieldRule, valueOf } from './cron-fields.js';
import { type CronProblemKind, type Token } from './cron-problem.js';

/** Values from `from` to `to`, every `step`th; over the end of the field and on from its start where `from` is the greater one. */
export interface Span extends Token {
  readonly kind: 'span';
  readonly form: 'star' | 'value' | 'open' | 'range';
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** One item of a list in a field, as it was written. Weekdays are numbers of the dialect. */
export type CronItem =
  | Span
  /** `L`, `L-n`: so many days before the last of the month. */
  | (Token & { readonly kind: 'last_day'; readonly before: number })
  /** `nW`: the day from Monday to Friday that is nearest to day n; `LW` (null): the last one. */
  | (Token & { readonly kind: 'nearest_workday'; readonly day: number | null })
  /** `nL`: the last such weekday of the month. */
  | (Token & { readonly kind: 'last_weekday'; readonly weekday: number })
  /** `d#n`: the nth such weekday of the month. */
  | (Token & { readonly kind: 'nth_weekday'; readonly weekday: number; readonly nth: number });

/** What is wrong with an item, as a predicate; `fix` where the field's general one does not help. */
export interface ItemFault {
  readonly fault: CronProblemKind;
  readonly problem: string;
  readonly fix?: string;
}

const SPAN = /^(?:[*?]|([A-Z\d]+)(?:-([A-Z\d]+))?)(?:\/(.*))?$/is;
const RANDOM = /(^|[^A-Z])H([^A-Z]|$)/i;

const fault = (kind: CronProblemKind, problem: string, fix?: string): ItemFault => ({
  fault: kind,
  problem,
  ...(fix === undefined ? {} : { fix }),
});
const OUT_OF_RANGE = fault('out_of_range', 'is out of range');
const BAD_TOKEN = fault('bad_token', 'is not supported');
export const LONE_QUESTION_MARK = fault(
  'bad_token',
  'is not supported: "?" stands alone, in one of the day fields',
);
const BAD_MODIFIER = fault('bad_modifier', 'is not a possible use of L, W or #');

/** Reads one item of a field's list. */
export function parseItem(token: Token, rule: FieldRule, dialect: CronDialect): CronItem | ItemFault {
  const { text } = token;
  if (text === '') return fault('empty_item', 'is an empty item of a list');
  if (RANDOM.test(text)) return fault('bad_token', 'stands for a random value');
  if (text.includes('=')) return fault('bad_token', 'is not supported', 'put a time zone into timezone');
  if (rule.name === 'day of month' && /[LW#]/i.test(text)) return dayModifier(token);
  if (rule.name === 'day of week' && /#|^L|[LW]$/i.test(text)) return weekdayModifier(token, rule, dialect);
  return span(token, rule, dialect);
}

function dayModifier(token: Token): CronItem | ItemFault {
  const [, before, day] = /^(?:L|L-(\d+)|(\d+)W|LW)$/i.exec(token.text) ?? [null];
  if (before !== undefined) {
    return Number(before) <= 30 ? { ...token, kind: 'last_day', before: Number(before) } : OUT_OF_RANGE;
  }
  if (day !== undefined) {
    const isDay = Number(day) >= 1 && Number(day) <= 31;
    return isDay ? { ...token, kind: 'nearest_workday', day: Number(day) } : OUT_OF_RANGE;
  }
  if (/^L$/i.test(token.text)) return { ...token, kind: 'last_day', before: 0 };
  if (/^LW$/i.test(token.text)) return { ...token, kind: 'nearest_workday', day: null };
  return BAD_MODIFIER;
}

function weekdayModifier(token: Token, rule: FieldRule, dialect: CronDialect): CronItem | ItemFault {
  if (/^L$/i.test(token.text) && dialect === 'quartz') {
    return { ...token, kind: 'span', form: 'value', from: rule.max, to: rule.max, step: 1 };
  }
  const [, name, nth] = /^([A-Z\d]+?)(?:L|#(\d+))$/i.exec(token.text) ?? [];
  if (name === undefined) return BAD_MODIFIER;
  const weekday = valueOf(name, rule);
  if (Number.isNaN(weekday)) return BAD_MODIFIER;
  if (weekday < rule.min || weekday > rule.max) return OUT_OF_RANGE;
  if (nth === undefined) return { ...token, kind: 'last_weekday', weekday };
  const isNth = Number(nth) >= 1 && Number(nth) <= 5;
  return isNth ? { ...token, kind: 'nth_weekday', weekday, nth: Number(nth) } : OUT_OF_RANGE;
}

function span(token: Token, rule: FieldRule, dialect: CronDialect): Span | ItemFault {
  const match = SPAN.exec(token.text);
  if (match === null) return BAD_TOKEN;
  const [, first, last, stepText] = match;
  if (stepText !== undefined && !/^\d+$/.test(stepText)) return fault('bad_step', 'has no whole step');
  const step = Number(stepText ?? 1);
  if (step === 0) return fault('bad_step', 'has a step of zero');
  const ends = endsOf(first, last, stepText !== undefined, rule);
  const { from, to, form } = ends;
  if (Number.isNaN(from) || Number.isNaN(to)) return BAD_TOKEN;
  if ([from, to].some((value) => value < rule.min || value > rule.max)) return OUT_OF_RANGE;
  if (from > to && (dialect === 'unix' || rule.name === 'year')) {
    return fault('reversed_range', 'runs backwards', splitFix(first, last, stepText, rule));
  }
  return { ...token, kind: 'span', form, from, to, step };
}

function endsOf(
  first: string | undefined,
  last: string | undefined,
  hasStep: boolean,
  rule: FieldRule,
): Pick<Span, 'from' | 'to' | 'form'> {
  if (first === undefined) return { form: 'star', from: rule.min, to: rule.max };
  const from = valueOf(first, rule);
  if (last !== undefined) return { form: 'range', from, to: valueOf(last, rule) };
  return hasStep ? { form: 'open', from, to: rule.max } : { form: 'value', from, to: from };
}

function splitFix(first = '', last = '', step: string | undefined, { min, max, names }: FieldRule): string {
  const isNamed = names.length > 0 && !/^\d/.test(first);
  const ends = isNamed ? [names.at(-1), names[0]] : [max, min];
  return step === undefined
    ? `use two ranges, "${first}-${ends[0]},${ends[1]}-${last}"`
    : `use values from ${min} to ${max}, the smaller one first`;
}

/** The values of a span, in the order in which they come. */
export function valuesOf({ from, to, step }: Span, { min, max }: FieldRule): number[] {
  const values: number[] = [];
  const end = to < from ? to + (max - min + 1) : to;
  for (let value = from; value <= end; value += step) {
    values.push(value > max ? value - (max - min + 1) : value);
  }
  return values;
}
