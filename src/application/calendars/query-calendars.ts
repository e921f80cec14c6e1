import { type Calendar } from '../../domain/calendar.js';
import { CalendarDays } from '../../domain/calendar-days.js';
import { runsOut } from '../../domain/calendar-warnings.js';
import { AxError, InvalidInput } from '../../domain/errors.js';
import { type CalendarRepo } from '../../ports/calendar-repo.js';
import { type Clock } from '../../ports/clock.js';
import { type Page, type PageRequest } from '../../ports/task-repo.js';

/** Reads calendars. */
export class QueryCalendars {
  constructor(private readonly deps: { readonly calendars: CalendarRepo; readonly clock: Clock }) {}

  /** @throws AxError `not_found`. */
  async find(name: string): Promise<Calendar> {
    const calendar = await this.deps.calendars.find(name);
    if (calendar === null) throw new AxError('not_found', `there is no calendar ${name}`);
    return calendar;
  }

  async list(page: PageRequest): Promise<Page<{ readonly calendar: Calendar; readonly tasks: number }>> {
    return this.deps.calendars.list(page);
  }

  /** The calendar that a schedule names. @throws InvalidInput on field `calendar` if there is none. */
  async named(name: string): Promise<CalendarDays> {
    const calendar = await this.deps.calendars.find(name);
    if (calendar !== null) return new CalendarDays(calendar);
    const fix = 'create it first, or name one that exists';
    throw InvalidInput.of('calendar', `there is no calendar ${JSON.stringify(name.slice(0, 64))}`, fix);
  }

  /** What its owner should know, one sentence each. */
  warnings(calendar: Calendar): string[] {
    const end = runsOut(calendar, this.deps.clock.now());
    return end === null ? [] : [end];
  }
}
