import { type CalendarSource, type DaysSource, type SourcedDays } from '../../ports/calendar-source.js';
import { type Clock } from '../../ports/clock.js';

/** Days from files and packages. Their libraries are loaded when they are first asked, so that a process that never asks does not pay. */
export class OfflineCalendarSource implements CalendarSource {
  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  async daysOf(source: DaysSource): Promise<SourcedDays> {
    switch (source.type) {
      case 'china':
        return (await import('./china-days.js')).chinaDays(source);
      case 'country':
        return (await import('./country-days.js')).countryDays(source);
      case 'ics': {
        const thisYear = new Date(this.clock.now()).getUTCFullYear();
        return (await import('./ics-days.js')).icsDays(source, thisYear);
      }
    }
  }
}
