import { createRequire } from 'node:module';
import { dayNumberOf } from '../../domain/calendar.js';
import { InvalidInput } from '../../domain/errors.js';
import { type ChinaSource, type SourcedDays } from '../../ports/calendar-source.js';
import { FoundDays, packageText, spanText, startOf, yearOf, yearSpan } from './days.js';

/** By date: English name, Chinese name and length of the holiday, with commas between them. */
type Dates = Readonly<Record<string, string>>;

const require = createRequire(import.meta.url);

/** The days of the package chinese-days. A year that it does not know is refused: its weekends alone would look like an answer. */
export function chinaDays({ years }: ChinaSource): SourcedDays {
  const span = yearSpan(years);
  const { first, last } = span;
  const data = require('chinese-days/dist/chinese-days.json') as Record<'holidays' | 'workdays', Dates>;
  const [holidays, workdays] = [daysIn(data.holidays), daysIn(data.workdays)];
  const known = holidays.map(({ day }) => yearOf(day));
  const [from, to] = [Math.min(...known), Math.max(...known)];
  if (first < from || last > to) {
    const fix = `use years from ${from} to ${to}; the State Council announces a year in the last months of the one before`;
    throw InvalidInput.of('years', `${first < from ? first : last} is not known`, fix);
  }
  const found = new FoundDays();
  const isAsked = ({ day }: { readonly day: number }) => years.includes(yearOf(day));
  for (const { day, name } of workdays.filter(isAsked)) found.add('workday', day, name);
  for (const { day, name } of holidays.filter(isAsked)) found.add('holiday', day, name);
  return found.upTo(startOf(last + 1) - 1, `china ${spanText(span)} (${packageText('chinese-days')})`);
}

const daysIn = (dates: Dates) =>
  Object.entries(dates).map(([date, words]) => {
    const [english = '', chinese = ''] = words.split(',');
    return { day: dayNumberOf(date) ?? NaN, name: `${chinese} (${english})` };
  });
