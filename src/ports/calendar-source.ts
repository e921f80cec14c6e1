import { type CalendarDay } from '../domain/calendar.js';

/** Kinds of day that a country's rules know; only the first is a day off for everybody. */
export const HOLIDAY_TYPES = ['public', 'bank', 'school', 'optional', 'observance'] as const;

/** The statutory holidays and make-up working days of mainland China, as the State Council announces them for each year. */
export interface ChinaSource {
  readonly type: 'china';
  readonly years: readonly number[];
}

/** The holidays of a country, state or region (ISO 3166 codes), computed by rules. `language`: of the names, ISO 639-1. */
export interface CountrySource {
  readonly type: 'country';
  readonly country: string;
  readonly state: string | null;
  readonly region: string | null;
  readonly holidayTypes: readonly (typeof HOLIDAY_TYPES)[number][];
  readonly language: string | null;
  readonly years: readonly number[];
}

/** 补班, 上班 and 调班 hold the first one. */
export const DEFAULT_WORKDAY_WORDS: readonly string[] = ['班', 'workday'];

/**
 * An iCalendar file. `years`: only days of these; null: all, and those that return yearly for this year and the four that follow.
 * `workdayWords`: an event whose summary or categories contain one is an extra working day. `ignoreWords`: one that contains one there
 * or in its description counts for nothing.
 */
export interface IcsSource {
  readonly type: 'ics';
  readonly text: string;
  readonly years: readonly number[] | null;
  readonly workdayWords: readonly string[];
  readonly ignoreWords: readonly string[];
}

export type DaysSource = ChinaSource | CountrySource | IcsSource;

export interface SourcedDays {
  /** By date, each once; no day is in both lists. */
  readonly holidays: readonly CalendarDay[];
  readonly workdays: readonly CalendarDay[];
  /** The last day, YYYY-MM-DD, up to which the source is complete. */
  readonly knownUntil: string;
  /** Where they came from, for people: one printable line of at most 200 characters. */
  readonly origin: string;
}

/** Where a calendar's days can come from. */
export interface CalendarSource {
  /** @throws InvalidInput that names the field of the source (its API name) and what is possible; for a file also the line. */
  daysOf(source: DaysSource): Promise<SourcedDays>;
}
