import { type CronDialect, type FieldRule, weekdayOf } from './cron-fields.js';
import { type ParsedField, type ParsedFields } from './parse-cron-text.js';
import { type CronItem, type Span, valuesOf } from './parse-item.js';

/** What is allowed and yet rarely meant, one sentence each, with the part of the expression and its position. */
export function cronWarnings(fields: ParsedFields, dialect: CronDialect): string[] {
  const named = Object.values(fields).filter((field): field is ParsedField => field !== null);
  const steps = named.flatMap((field) =>
    field.items.flatMap((item) => (item.kind === 'span' ? stepWarnings(item, field.rule) : [])),
  );
  return dialect === 'unix' ? [...quartzWarnings(fields), ...steps] : steps;
}

function quartzWarnings({ 'day of month': days, 'day of week': weekdays }: ParsedFields): string[] {
  const asQuartz = [days, weekdays].find(({ text }) => text.startsWith('?'));
  const counted = weekdays.items.filter((item) => !isStar(item) && /^\d/.test(item.text));
  if (asQuartz === undefined || counted.length === 0) return [];
  const meant = counted.map((item) => `"${item.text}" is ${weekdayNames(item, weekdays.rule)}`).join(', ');
  return [
    `cron_expr: "?" at position ${asQuartz.position} is how Quartz is written, which counts weekdays from 1 = Sunday; here they count ` +
      `from 0 = Sunday, so ${meant}: set cron_dialect to "quartz" if that is wrong, or use names`,
  ];
}

const isStar = (item: CronItem): boolean => item.kind === 'span' && item.form === 'star';

function weekdayNames(item: CronItem, rule: FieldRule): string {
  const name = (value: number) => rule.names[weekdayOf(value, rule)] ?? '';
  if (item.kind === 'last_weekday') return `the last ${name(item.weekday)}`;
  if (item.kind === 'nth_weekday') return `${name(item.weekday)} number ${item.nth}`;
  return item.kind === 'span' ? valuesOf(item, rule).map(name).join(', ') : '';
}

function stepWarnings(span: Span, rule: FieldRule): string[] {
  if (span.step === 1 || rule.name === 'year') return [];
  const say = (what: string) => [
    `cron_expr: ${rule.name}: "${span.text}" at position ${span.position} ${what}`,
  ];
  const values = valuesOf(span, rule).filter((value, _, all) => value - (all[0] ?? 0) < rule.size);
  const [first = 0, last = 0] = [values[0], values.at(-1)];
  const isAround = span.form !== 'range' || (span.from === rule.min && span.to === rule.max);
  if (!isAround) {
    return last === span.to ? [] : say(`never reaches ${span.to}: the last value is ${last}`);
  }
  if (rule.name === 'day of month') return say(`begins anew at ${first} in every month, whatever its length`);
  const rest = rule.size - last + first;
  if (rest === span.step) return [];
  return say(`does not divide ${rule.size}: after ${last} comes ${first} again, ${rest} later`);
}
