import { z } from 'zod';
import {
  type Calendar,
  type CalendarDay,
  type CalendarDefinition,
  DEFAULT_WEEKEND,
  type Weekday,
  WEEKDAYS,
} from '../../domain/calendar.js';
import { type FieldProblem, InvalidInput } from '../../domain/errors.js';
import { type DaysSource } from '../../ports/calendar-source.js';
import { calendarSource } from './calendar-source-json.js';
import { check, readWith, Refusal, strict } from './field-problems.js';

const NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** A number or an English name, also its first three letters. */
const weekday = readWith((value): Weekday | Refusal => {
  const name = typeof value === 'string' && value.length >= 3 ? value.toLowerCase() : null;
  const number =
    name === null ? value : NAMES.findIndex((known) => known === name || known.slice(0, 3) === name);
  return (
    WEEKDAYS.find((known) => known === number) ??
    new Refusal('is not a weekday', 'give 0 (Sunday) to 6 (Saturday), or a name such as "saturday"')
  );
});

const NAMED_DAY = strict({ date: z.string(), name: z.string().nullish() });

/** A date alone, or with a name. */
const day = z.preprocess((value) => (typeof value === 'string' ? { date: value } : value), NAMED_DAY);

const fields = {
  description: z.string().default(''),
  weekend: z.array(weekday).default([...DEFAULT_WEEKEND]),
  holidays: z.array(day).default([]),
  workdays: z.array(day).default([]),
  excluded_times: z.array(strict({ from: z.string(), to: z.string() })).default([]),
  known_until: z.string().nullish(),
  source: calendarSource.nullish(),
  filled_from: z.array(z.string()).nullish(),
};

const setByAx = z.unknown().optional();
const CALENDAR = strict({
  name: z.string(),
  ...fields,
  version: z.int().optional(),
  tasks: setByAx,
  warnings: setByAx,
});

/** A calendar as somebody wants it, and the version that the writer expects to replace; null: any. */
export interface CalendarDraft {
  readonly definition: CalendarDefinition;
  /** What more days are to be taken from; null: nothing. */
  readonly source: DaysSource | null;
  readonly version: number | null;
}

/**
 * A calendar from its JSON, which may be one as it was read. `name`: of the path, which the JSON may leave out; null: there is none.
 * @throws InvalidInput with every unknown, missing or mistyped field; the rules of a calendar are the domain's.
 */
export function calendarDraft(json: unknown, name: string | null): CalendarDraft {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const { value, problems } = check(CALENDAR, isObject && name !== null ? { name, ...json } : json);
  const all = [...problems, ...otherNameProblems(value?.name, name)];
  if (value === undefined || all.length > 0) throw new InvalidInput(all);
  return {
    definition: {
      name: value.name,
      description: value.description,
      weekend: value.weekend,
      holidays: value.holidays.map(dayOf),
      workdays: value.workdays.map(dayOf),
      excludedTimes: value.excluded_times,
      knownUntil: value.known_until ?? null,
      filledFrom: value.filled_from ?? [],
    },
    source: value.source ?? null,
    version: value.version ?? null,
  };
}

const dayOf = ({ date, name }: z.output<typeof NAMED_DAY>): CalendarDay => ({ date, name: name ?? null });

function otherNameProblems(given: string | undefined, name: string | null): FieldProblem[] {
  if (name === null || given === undefined || given === name) return [];
  return [
    { field: 'name', problem: 'is not the name in the path', fix: 'leave it out; a name never changes' },
  ];
}

/** The JSON of a calendar. */
export const calendarJson = (calendar: Calendar) => ({
  name: calendar.name,
  description: calendar.description,
  weekend: calendar.weekend,
  holidays: calendar.holidays,
  workdays: calendar.workdays,
  excluded_times: calendar.excludedTimes,
  known_until: calendar.knownUntil,
  filled_from: calendar.filledFrom ?? [],
  version: calendar.version,
});
