import { endOfKnown, runsOut } from '../../domain/calendar-warnings.js';
import { type CalendarEnd, type CalendarRepo } from '../../ports/calendar-repo.js';
import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Leadership } from './leadership.js';

/** Calendars that one look takes in, the first to run out before the others; each has a series of its own. */
const MAX_CALENDARS = 100;
const LOOK_MS = 60_000;
const TELL_MS = 86_400_000;

/** The leader's look at calendars that run out: measured at every look, told once a day while tasks use them. */
export class WatchCalendars {
  /** When each was told last, by the monotonic clock. */
  private readonly told = new Map<string, number>();

  constructor(
    private readonly deps: {
      readonly leadership: Leadership;
      readonly calendars: Pick<CalendarRepo, 'ends'>;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
    },
  ) {}

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await this.look();
      } catch (error) {
        this.deps.logger.warn({ err: error }, 'calendars not looked at, trying again');
      }
      await this.deps.clock.sleep(LOOK_MS, stop);
    }
  }

  /** One look; a node that does not lead measures and tells nothing. */
  async look(): Promise<void> {
    const { leadership, calendars, metrics } = this.deps;
    if (!leadership.isCurrent()) return;
    const ends = await calendars.ends(MAX_CALENDARS);
    metrics.clear('calendar_known_until_timestamp_seconds');
    for (const { name, knownUntil } of ends) {
      const seconds = endOfKnown(knownUntil) / 1000;
      metrics.gauge('calendar_known_until_timestamp_seconds', { calendar: name }, seconds);
    }
    for (const name of this.told.keys()) if (!ends.some((end) => end.name === name)) this.told.delete(name);
    for (const end of ends) this.tell(end);
  }

  private tell({ name, knownUntil, tasks }: CalendarEnd): void {
    const { clock, logger } = this.deps;
    const warning = runsOut({ name, knownUntil }, clock.now());
    const now = clock.monotonicMs();
    if (warning === null || tasks === 0) this.told.delete(name);
    else if (now - (this.told.get(name) ?? -Infinity) >= TELL_MS) {
      this.told.set(name, now);
      logger.warn({ calendar: name, known_until: knownUntil, tasks }, warning);
    }
  }
}
