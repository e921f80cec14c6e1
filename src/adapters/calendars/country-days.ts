import { setImmediate } from 'node:timers/promises';
import Holidays from 'date-holidays';
import { closestMatch } from 'leven';
import { InvalidInput } from '../../domain/errors.js';
import { type CountrySource, type SourcedDays } from '../../ports/calendar-source.js';
import { FoundDays, packageText, spanText, startOf, yearOf, yearSpan } from './days.js';

/** Years for which the tables of the Islamic and Hebrew years in date-holidays are whole; outside them it leaves feasts out in silence. */
const [FIRST_YEAR, LAST_YEAR] = [1970, 2076];

const DAY_MS = 86_400_000;

/** The days of the package date-holidays, substitute days among them. */
export async function countryDays(source: CountrySource): Promise<SourcedDays> {
  const span = yearSpan(source.years);
  const { first, last } = span;
  if (first < FIRST_YEAR || last > LAST_YEAR)
    throw InvalidInput.of(
      'years',
      `${first < FIRST_YEAR ? first : last} is not known`,
      `use years from ${FIRST_YEAR} to ${LAST_YEAR}`,
    );
  const holidays = openHolidays(source);
  const found = new FoundDays();
  // A holiday belongs to the year in which it begins, so the year before may reach into the first one.
  for (let year = first - 1; year <= last; year++) {
    // A year takes up to 90 ms (China), and the process has tasks to fire.
    await setImmediate();
    for (const { start, end, name } of holidays.getHolidays(year))
      for (const day of daysOff(start.getTime(), end.getTime()))
        if (yearOf(day) >= first && yearOf(day) <= last) found.add('holiday', day, name);
  }
  if (found.count === 0)
    throw InvalidInput.of('types', 'match no holiday there', 'add another type, or leave it out');
  const place = [source.country, source.state, source.region].filter((code) => code !== null).join('-');
  const origin = `country ${place} ${spanText(span)} (${packageText('date-holidays')})`;
  return found.upTo(startOf(last + 1) - 1, origin);
}

/**
 * The days whose noon lies within a holiday. So a feast from sunset to sunset is the day after the first sunset, and a half day off
 * that begins at noon or later is a working day.
 */
function daysOff(startMs: number, endMs: number): number[] {
  const days: number[] = [];
  const noonOf = (day: number) => (day + 0.5) * DAY_MS;
  for (let day = Math.floor(startMs / DAY_MS); noonOf(day) < endMs; day++)
    if (noonOf(day) > startMs) days.push(day);
  return days;
}

/** With UTC for its zone, `start` and `end` are the local wall times as if they were UTC. */
function openHolidays({ country, state, region, holidayTypes, language }: CountrySource): Holidays {
  const catalog = new Holidays();
  known('country', country, catalog.getCountries('en'));
  if (state !== null) known('state', state, catalog.getStates(country));
  if (region !== null) {
    if (state === null) throw InvalidInput.of('region', 'needs a state', 'give a state, too');
    known('region', region, catalog.getRegions(country, state));
  }
  const place = { country, ...(state !== null && { state }), ...(region !== null && { region }) };
  return new Holidays(place, {
    timezone: 'UTC',
    types: [...holidayTypes],
    ...(language !== null && { languages: [language] }),
  });
}

/** @throws InvalidInput unless `code` is one of `names`' keys. date-holidays takes an unknown code for a place without holidays. */
function known(field: string, code: string, names: Readonly<Record<string, string>> | undefined): void {
  const codes = Object.keys(names ?? {});
  if (codes.includes(code)) return;
  if (codes.length === 0)
    throw InvalidInput.of(field, 'is not possible: none is known there', 'leave it out');
  const close = closestMatch(code.slice(0, 16).toUpperCase(), codes, { maxDistance: 1 });
  const suggestion = close === undefined ? '' : `did you mean "${close}"? `;
  const problem = `${JSON.stringify(code.slice(0, 16))} is not known`;
  throw InvalidInput.of(field, problem, `${suggestion}use one of ${codes.join(', ')}`);
}
