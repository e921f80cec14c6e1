import { createHash } from 'node:crypto';
import { dayNumberOf, dateOfDay, MAX_CALENDAR_DAYS } from '../../domain/calendar.js';
import { InvalidInput } from '../../domain/errors.js';
import { type IcsSource, type SourcedDays } from '../../ports/calendar-source.js';
import { FoundDays, spanText, startOf, yearOf, yearSpan } from './days.js';
import { daysOf, namedDaysOf, spanOf } from './ics-dates.js';
import { type IcsEvent, icsEvents, textsOf } from './ics-events.js';
import { occurrences, yearlyRule } from './yearly-rule.js';

/** How many years are filled from events that return for ever. */
const YEARS_AHEAD = 5;
/** Files of one year often end with the days after its end. */
const NEW_YEAR_DAYS = 7;
/** Days and months that are looked at: an ordinary file takes some hundred, these a third of a second. */
const MAX_STEPS = 20_000;

/** The days of an iCalendar file (docs/calendars.md). */
export function icsDays(source: IcsSource, thisYear: number): SourcedDays {
  const { text, years, workdayWords, ignoreWords } = source;
  const span = years === null ? { first: thisYear, last: thisYear + YEARS_AHEAD - 1 } : yearSpan(years);
  const [from, to] = [startOf(span.first), startOf(span.last + 1) - 1];
  const isIgnored = wordsIn(ignoreWords, 'SUMMARY', 'CATEGORIES', 'DESCRIPTION');
  const isWorkday = wordsIn(workdayWords, 'SUMMARY', 'CATEGORIES');
  const events = icsEvents(text).filter((event) => !isIgnored(event));
  const moved = movedDays(events);
  const found = new FoundDays();
  const spend = budgetOf(MAX_STEPS);
  let lastSingle = -Infinity;
  for (const event of events.filter((e) => textsOf(e, 'STATUS')[0]?.toUpperCase() !== 'CANCELLED')) {
    const kind = kindOf(event, isWorkday);
    const name = textsOf(event, 'SUMMARY')[0] ?? '';
    const { single, yearly, length } = beginnings(event, moved, { from, to }, spend);
    const add = (start: number, isBounded: boolean) => {
      spend(length);
      for (let day = start; day < start + length; day++)
        if (isBounded ? day >= from && day <= to : isPossible(day)) found.add(kind, day, name);
    };
    for (const start of single) {
      add(start, years !== null);
      if (!event.properties.has('RECURRENCE-ID') && isPossible(start))
        lastSingle = Math.max(lastSingle, start);
    }
    for (const start of yearly) add(start, true);
  }
  if (found.count > MAX_CALENDAR_DAYS)
    throw InvalidInput.of('text', `has more than ${MAX_CALENDAR_DAYS} days`, 'give years');
  if (found.count === 0)
    throw InvalidInput.of('text', 'has no all-day event that counts', 'send a file with all-day events');
  const empty = years?.find((year) => !found.hasYear(year));
  if (empty !== undefined)
    throw InvalidInput.of('years', `the file has no day in ${empty}`, 'give years that are in the file');
  const known =
    lastSingle === -Infinity ? to : startOf(yearOf(Math.max(0, lastSingle - NEW_YEAR_DAYS)) + 1) - 1;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const origin = `iCalendar file ${hash}${years === null ? '' : `, ${spanText(span)}`}`;
  return found.upTo(years === null ? known : Math.min(known, to), origin);
}

/** A file of the largest size can ask for minutes of counting, and the process has tasks to fire. */
function budgetOf(steps: number): (spent: number) => void {
  let left = steps;
  return (spent) => {
    left -= spent;
    if (left >= 0) return;
    const fix = 'send fewer events at a time, or shorter ones, and give years';
    throw InvalidInput.of('text', 'has too many days and years to count', fix);
  };
}

const isPossible = (day: number): boolean => dayNumberOf(dateOfDay(day)) !== null;

/** By uid: the days of recurring events in whose place another event stands. */
function movedDays(events: readonly IcsEvent[]): ReadonlyMap<string, ReadonlySet<number>> {
  const moved = new Map<string, Set<number>>();
  for (const event of events) {
    const uid = textsOf(event, 'UID')[0] ?? '';
    const days = event.properties.get('RECURRENCE-ID')?.flatMap(namedDaysOf) ?? [];
    if (days.length > 0) moved.set(uid, new Set([...(moved.get(uid) ?? []), ...days]));
  }
  return moved;
}

/** The days on which an event begins: those that are written down, and those of its rule from a year before `from` up to `to`. */
function beginnings(
  event: IcsEvent,
  moved: ReadonlyMap<string, ReadonlySet<number>>,
  range: { readonly from: number; readonly to: number },
  spend: (steps: number) => void,
) {
  const { start, length } = spanOf(event);
  const all = (name: string) => event.properties.get(name) ?? [];
  const [rrule] = all('RRULE');
  const uid = textsOf(event, 'UID')[0] ?? '';
  const replaced = event.properties.has('RECURRENCE-ID') ? undefined : moved.get(uid);
  const except = new Set(all('EXDATE').flatMap(namedDaysOf));
  const stays = (day: number) => !except.has(day) && replaced?.has(day) !== true;
  const written = [...(rrule === undefined ? [start] : []), ...all('RDATE').flatMap(daysOf)];
  const yearly =
    rrule === undefined
      ? []
      : occurrences(yearlyRule(rrule), start, { ...range, from: range.from - 366 }, spend);
  return { single: written.filter(stays), yearly: yearly.filter(stays), length };
}

/** Apple's mark decides where there is one; otherwise the words. */
function kindOf(event: IcsEvent, isWorkday: (event: IcsEvent) => boolean): 'holiday' | 'workday' {
  const mark = textsOf(event, 'X-APPLE-SPECIAL-DAY')[0]?.toUpperCase();
  if (mark === 'ALTERNATE-WORKDAY') return 'workday';
  return mark !== 'WORK-HOLIDAY' && isWorkday(event) ? 'workday' : 'holiday';
}

/** Whether these properties of an event contain one of `words`, in any case; Latin words only as whole words ("non-workday" is another). */
function wordsIn(words: readonly string[], ...names: readonly string[]): (event: IcsEvent) => boolean {
  const patterns = words.map((word) => {
    const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    return new RegExp(String.raw`(?<![\w-](?=\w))${escaped}(?<!\w(?=\w))`, 'iu');
  });
  return (event) => textsOf(event, ...names).some((text) => patterns.some((pattern) => pattern.test(text)));
}
