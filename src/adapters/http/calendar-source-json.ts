import { z } from 'zod';
import { InvalidInput } from '../../domain/errors.js';
import { type DaysSource, DEFAULT_WORKDAY_WORDS, HOLIDAY_TYPES } from '../../ports/calendar-source.js';
import { checked, readWith, Refusal, strict } from './field-problems.js';
import { NO_QUERY } from './list-query.js';
import { type ApiRequest } from './route.js';

const MAX_YEARS = 30;
const MAX_WORDS = 30;

const isYear = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1970 && value <= 2199;

/** Years as a list, or in a query string with commas between them. */
const years = readWith((value) => {
  const list = typeof value === 'string' ? value.split(',').map(Number) : value;
  if (Array.isArray(list) && list.length > 0 && list.length <= MAX_YEARS && list.every(isYear)) return list;
  return new Refusal('is not possible', `give 1 to ${MAX_YEARS} years such as [2026, 2027]`);
});

const words = readWith((value) => {
  const list = typeof value === 'string' ? value.split(',').filter((word) => word !== '') : value;
  const isWord = (word: unknown): word is string =>
    typeof word === 'string' && word.trim() !== '' && word.length <= 50;
  if (Array.isArray(list) && list.length <= MAX_WORDS && list.every(isWord)) return list;
  return new Refusal(
    'is not possible',
    `give up to ${MAX_WORDS} words of up to 50 characters such as ["班"]`,
  );
});

const code = z.string().nullable().default(null);

const ofFile = {
  years: years.nullable().default(null),
  workday_words: words.default([...DEFAULT_WORKDAY_WORDS]),
  ignore_words: words.default([]),
};

const SOURCE = z.discriminatedUnion('type', [
  strict({ type: z.literal('china'), years }),
  strict({
    type: z.literal('country'),
    country: z.string(),
    state: code,
    region: code,
    types: z.array(z.enum(HOLIDAY_TYPES)).min(1).default(['public']),
    language: code,
    years,
  }),
  strict({ type: z.literal('ics'), text: z.string(), ...ofFile }),
]);

/** The `source` of a calendar's JSON. */
export const calendarSource = SOURCE.transform((json): DaysSource => {
  switch (json.type) {
    case 'china':
      return json;
    case 'country': {
      const { types, ...rest } = json;
      return { ...rest, holidayTypes: types };
    }
    case 'ics':
      return fileSource(json.text, json);
  }
});

/** What to take of an iCalendar file, in the query string that comes with it. */
const FILE_OPTIONS = strict(ofFile);

const fileSource = (text: string, options: z.output<typeof FILE_OPTIONS>): DaysSource => ({
  type: 'ics',
  text,
  years: options.years,
  workdayWords: options.workday_words,
  ignoreWords: options.ignore_words,
});

/** The type of an iCalendar file as a body. */
export const CALENDAR_FILE = 'text/calendar';

/**
 * The source that an import names: the JSON of one, or a file with `query`.
 * @throws InvalidInput, also on a query beside JSON, in which it would say nothing.
 */
export function importSource({ text, body, query }: ApiRequest): DaysSource {
  if (text !== null) return fileSource(text, checked(FILE_OPTIONS, query));
  checked(NO_QUERY, query);
  return checked(calendarSource, body);
}

/** `work`, whose problems with a source name its fields as `rename` says. */
export async function renamingFields<T>(work: Promise<T>, rename: (field: string) => string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new InvalidInput(error.problems.map((problem) => ({ ...problem, field: rename(problem.field) })));
  }
}
