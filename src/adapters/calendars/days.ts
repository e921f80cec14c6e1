import { createRequire } from 'node:module';
import { type CalendarDay, dateOfDay } from '../../domain/calendar.js';
import { InvalidInput } from '../../domain/errors.js';
import { type SourcedDays } from '../../ports/calendar-source.js';

const MAX_NAME = 100;

const require = createRequire(import.meta.url);

export const yearOf = (day: number): number => new Date(day * 86_400_000).getUTCFullYear();

/** Days since 1970-01-01 to the first day of a year. */
export const startOf = (year: number): number => Date.UTC(year, 0, 1) / 86_400_000;

export interface YearSpan {
  readonly first: number;
  readonly last: number;
}

/** The first and the last of `years`. @throws InvalidInput on a gap: nothing would say that its days are not known. */
export function yearSpan(years: readonly number[]): YearSpan {
  const [first, last] = [Math.min(...years), Math.max(...years)];
  for (let year = first; year < last; year++) {
    if (!years.includes(year))
      throw InvalidInput.of('years', `leaves out ${year}`, 'give years that follow one another');
  }
  return { first, last };
}

export const spanText = ({ first, last }: YearSpan): string =>
  first === last ? String(first) : `${first} to ${last}`;

/** `chinese-days 1.5.7`: a package and its version. */
export const packageText = (name: string): string =>
  `${name} ${(require(`${name}/package.json`) as { readonly version: string }).version}`;

/** What a source finds, by days since 1970-01-01: each once, a working day above a holiday, the first name above others. */
export class FoundDays {
  readonly #holidays = new Map<number, string>();
  readonly #workdays = new Map<number, string>();

  add(kind: 'holiday' | 'workday', day: number, name: string): void {
    const days = kind === 'holiday' ? this.#holidays : this.#workdays;
    if (!days.has(day)) days.set(day, name);
  }

  get count(): number {
    return this.#holidays.size + this.#workdays.size;
  }

  hasYear(year: number): boolean {
    return [...this.#holidays.keys(), ...this.#workdays.keys()].some((day) => yearOf(day) === year);
  }

  /** The answer of a source that is complete up to the day `knownUntil`. */
  upTo(knownUntil: number, origin: string): SourcedDays {
    for (const day of this.#workdays.keys()) this.#holidays.delete(day);
    return {
      holidays: listed(this.#holidays),
      workdays: listed(this.#workdays),
      knownUntil: dateOfDay(knownUntil),
      origin,
    };
  }
}

const listed = (days: ReadonlyMap<number, string>): CalendarDay[] =>
  [...days].sort(([a], [b]) => a - b).map(([day, name]) => ({ date: dateOfDay(day), name: printable(name) }));

/** A name as a calendar takes it; null if nothing is left. */
function printable(name: string): string | null {
  const text = name.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return text === '' ? null : text.slice(0, MAX_NAME);
}
