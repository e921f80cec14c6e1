import cronstrue from 'cronstrue/dist/cronstrue-i18n.js';
import { weekdayOf } from './cron-fields.js';
import { isUnrestricted } from './day-rule.js';
import { type ParsedField, type ParsedFields } from './parse-cron-text.js';
import { type CronItem, type Span, valuesOf } from './parse-item.js';

/** The same in two languages. */
export interface Words {
  readonly en: string;
  readonly zh: string;
}

type Language = keyof Words;

const LOCALES: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh_CN' };
const AND: Words = { en: ' and ', zh: ' 和 ' };
const OR: Words = { en: ', or ', zh: ', 或者' };
const IF_ALSO: Words = { en: ', if also ', zh: ', 且须同时是: ' };

/**
 * What an expression means, such as "At 09:00, Monday through Friday". cronstrue finds the words for one thing at a time, in a notation that
 * it does not misread: it says "and" where either day is enough, takes a step over the end of its field for an even one, and knows
 * neither lists with L and W nor ranges that wrap.
 */
export const cronWords = (fields: ParsedFields): Words => ({
  en: wordsIn('en', fields),
  zh: wordsIn('zh', fields),
});

function wordsIn(language: Language, fields: ParsedFields): string {
  const { second, minute, hour, month, year } = fields;
  const time = [second === null ? '0' : timeField(second), timeField(minute), timeField(hour)].join(' ');
  const parts = [
    ask(`${time} * * *`, language),
    dayWords(fields, language),
    withoutTime(`* ${listField(month)} *`, language),
    year === null ? null : withoutTime(`* * * ${listField(year)}`, language),
  ];
  return parts.filter((part) => part !== null).join(', ');
}

/** Null if it is every day. */
function dayWords(fields: ParsedFields, language: Language): string | null {
  const days = fields['day of month'];
  const weekdays = fields['day of week'];
  const [ofMonth, ofWeek] = [
    withModifiers(days, `${listField(days)} * *`, (modifier) => `${modifier} * *`, language),
    withModifiers(weekdays, `* * ${weekdayField(weekdays)}`, (modifier) => `* * ${modifier}`, language),
  ];
  const isEither = !isUnrestricted(days) && !isUnrestricted(weekdays);
  if (ofMonth === null || ofWeek === null) return isEither ? null : (ofMonth ?? ofWeek);
  return ofMonth + (isEither ? OR : IF_ALSO)[language] + ofWeek.replace(/^only |^仅/, '');
}

/** The plain values of a day field in one phrase, and one for each L, W or #; null if all days are plain values. */
function withModifiers(
  field: ParsedField,
  plain: string,
  dateOf: (modifier: string) => string,
  language: Language,
): string | null {
  const phrases = field.items.flatMap((item) => {
    const modifier = modifierText(item, field);
    return modifier === null ? [] : [withoutTime(dateOf(modifier), language)];
  });
  const hasPlain = field.items.some(({ kind }) => kind === 'span');
  const plainWords = hasPlain ? withoutTime(plain, language) : null;
  if (hasPlain && plainWords === null) return null;
  return [plainWords, ...phrases].filter((phrase) => phrase !== null).join(AND[language]);
}

function modifierText(item: CronItem, { rule }: ParsedField): string | null {
  switch (item.kind) {
    case 'span':
      return null;
    case 'last_day':
      return item.before === 0 ? 'L' : `L-${item.before}`;
    case 'nearest_workday':
      return item.day === null ? 'LW' : `${item.day}W`;
    case 'last_weekday':
      return `${weekdayOf(item.weekday, rule)}L`;
    case 'nth_weekday':
      return `${weekdayOf(item.weekday, rule)}#${item.nth}`;
  }
}

const ask = (expr: string, language: Language): string =>
  cronstrue
    .toString(expr, {
      locale: LOCALES[language],
      use24HourTimeFormat: true,
      dayOfWeekStartIndexZero: true,
      throwExceptionOnParseError: true,
    })
    .replace(/ {2,}/g, ' ');

/** The words for day of month, month and day of week, maybe with a year; null if it is every day. */
function withoutTime(date: string, language: Language): string | null {
  if (date === '* * *' || date === '* * * *') return null;
  const midnight = ask('0 0 0 * * *', language);
  return ask(`0 0 0 ${date}`, language).slice(`${midnight}, `.length);
}

const spansOf = ({ items }: ParsedField): Span[] => items.filter((item) => item.kind === 'span');

/** Steps stay where they are even all the way round; anything else that is not one plain range is a list of its values. */
function timeField(field: ParsedField): string {
  const [span, more] = spansOf(field);
  if (span === undefined || more !== undefined || span.step === 1) return listField(field);
  const { from, to, step, form } = span;
  const isEven = form === 'range' ? from <= to && (to - from) % step === 0 : 60 % step === 0;
  if (!isEven || (form !== 'range' && (field.rule.size % step !== 0 || from >= step)))
    return listField(field);
  return form === 'range' ? `${from}-${to}/${step}` : `${form === 'star' ? '*' : from}/${step}`;
}

function listField(field: ParsedField): string {
  const spans = spansOf(field);
  const { min, max } = field.rule;
  const [only] = spans;
  if (spans.length === 1 && only?.step === 1 && only.from < only.to) {
    return only.from === min && only.to === max ? '*' : `${only.from}-${only.to}`;
  }
  return listOf(
    spans.flatMap((span) => valuesOf(span, field.rule)),
    field.rule.size,
  );
}

function weekdayField(field: ParsedField): string {
  const spans = spansOf(field);
  const [only] = spans;
  const days = spans.flatMap((span) => valuesOf(span, field.rule)).map((day) => weekdayOf(day, field.rule));
  const [first = 0, last = 0] = [days[0], days.at(-1)];
  const isRange = spans.length === 1 && only?.step === 1 && days.length > 2 && new Set(days).size < 7;
  if (isRange && (first < last || last === 0)) return `${first}-${last === 0 ? 7 : last}`;
  return listOf(days, 7);
}

/** In order, each once; a star if it is all there are. */
function listOf(values: readonly number[], size: number): string {
  const different = [...new Set(values)].sort((a, b) => a - b);
  return different.length === size ? '*' : different.join(',');
}
