import {
  type Calendar,
  type CalendarDay,
  type CalendarDefinition,
  DEFAULT_WEEKEND,
  MAX_ORIGINS,
} from '../../domain/calendar.js';
import { type CalendarRepo } from '../../ports/calendar-repo.js';
import { type CalendarSource, type DaysSource } from '../../ports/calendar-source.js';
import { type Actor } from '../actor.js';
import { type ManageCalendars } from './manage-calendars.js';

/** Takes days of calendars from files and packages. */
export class FillCalendar {
  constructor(
    private readonly deps: {
      readonly source: CalendarSource;
      readonly calendars: CalendarRepo;
      readonly manageCalendars: ManageCalendars;
    },
  ) {}

  /** `definition` and the days of `source` in one; a day that it names itself stays as it is. @throws InvalidInput. */
  async fill(definition: CalendarDefinition, source: DaysSource): Promise<CalendarDefinition> {
    const { holidays, workdays, knownUntil, origin } = await this.deps.source.daysOf(source);
    const named = new Set([...definition.holidays, ...definition.workdays].map(({ date }) => date));
    const withOwn = (own: readonly CalendarDay[], found: readonly CalendarDay[]) =>
      [...own, ...found.filter(({ date }) => !named.has(date))].sort((a, b) => (a.date < b.date ? -1 : 1));
    const first = [...holidays, ...workdays].reduce(
      (least, { date }) => (date < least ? date : least),
      knownUntil,
    );
    return {
      ...definition,
      holidays: withOwn(definition.holidays, holidays),
      workdays: withOwn(definition.workdays, workdays),
      knownUntil: extended(definition.knownUntil, first, knownUntil),
      filledFrom: [...new Set([...(definition.filledFrom ?? []), origin])].slice(-MAX_ORIGINS),
    };
  }

  /**
   * Adds the days of `source` to a calendar, or makes one of them.
   * @throws InvalidInput; AxError as `create` and `replace` of calendars do, and `version_conflict` if it was changed meanwhile.
   */
  async import(
    name: string,
    source: DaysSource,
    expectedVersion: number | null,
    actor: Actor,
  ): Promise<{ readonly calendar: Calendar; readonly isNew: boolean }> {
    const { calendars, manageCalendars } = this.deps;
    const current = await calendars.find(name);
    const filled = await this.fill(current ?? emptyCalendar(name), source);
    if (current === null && expectedVersion === null)
      return { calendar: await manageCalendars.create(filled, actor), isNew: true };
    const expected = expectedVersion ?? current?.version ?? null;
    return { calendar: await manageCalendars.replace(expected, filled, actor), isNew: false };
  }
}

/** How long days are known after those from `first` to `until` came; a year in between of which nothing is known ends it. */
function extended(known: string | null, first: string, until: string): string {
  const isGap = known !== null && Number(first.slice(0, 4)) > Number(known.slice(0, 4)) + 1;
  return known !== null && (isGap || known > until) ? known : until;
}

const emptyCalendar = (name: string): CalendarDefinition => ({
  name,
  description: '',
  weekend: DEFAULT_WEEKEND,
  holidays: [],
  workdays: [],
  excludedTimes: [],
  knownUntil: null,
});
