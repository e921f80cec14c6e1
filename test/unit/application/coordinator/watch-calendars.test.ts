import { beforeEach, describe, expect, it } from 'vitest';
import { WatchCalendars } from '../../../../src/application/coordinator/watch-calendars.js';
import { type Leadership } from '../../../../src/application/coordinator/leadership.js';
import { type CalendarEnd } from '../../../../src/ports/calendar-repo.js';
import { BASE } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';

const HOUR = 3_600_000;

describe('WatchCalendars', () => {
  let ends: CalendarEnd[];
  let isLeader: boolean;
  let clock: FakeClock;
  let logger: RecordingLogger;
  let metrics: RecordingMetrics;
  let watch: WatchCalendars;
  beforeEach(() => {
    ends = [];
    isLeader = true;
    clock = new FakeClock(BASE);
    logger = new RecordingLogger();
    metrics = new RecordingMetrics();
    const leadership = { isCurrent: () => isLeader } as Leadership;
    watch = new WatchCalendars({
      ...{ leadership, clock, logger, metrics },
      calendars: { ends: async (limit) => ends.slice(0, limit) },
    });
  });

  const end = (name: string, knownUntil: string, tasks = 1): CalendarEnd => ({ name, knownUntil, tasks });

  it('tells once a day of those in use that run out within sixty days', async () => {
    ends = [
      end('over', '2025-12-31'),
      end('unused', '2026-01-31', 0),
      end('soon', '2026-03-05'),
      end('far', '2026-03-06'),
    ];
    for (let hour = 0; hour < 47; hour++) {
      await watch.look();
      await clock.advance(HOUR);
    }
    const told = logger.lines.map(
      ([level, { calendar, tasks }]) => `${level} ${String(calendar)} ${String(tasks)}`,
    );
    expect(told).toEqual(['warn over 1', 'warn soon 1', 'warn over 1', 'warn soon 1', 'warn far 1']);
  });

  it('measures when each ends, and of a node that does not lead nothing', async () => {
    ends = [end('a', '2026-03-05', 0)];
    await watch.look();
    const name = 'calendar_known_until_timestamp_seconds';
    const measured = [
      { name, labels: {}, value: 0 },
      { name, labels: { calendar: 'a' }, value: Date.UTC(2026, 2, 6) / 1000 },
    ];
    expect(metrics.seen).toEqual(measured);
    isLeader = false;
    await watch.look();
    expect(metrics.seen).toEqual(measured);
  });

  it('goes on after a look that failed, until it is stopped', async () => {
    const stop = new AbortController();
    let looks = 0;
    const leadership = { isCurrent: () => true } as Leadership;
    const failing = async () => {
      looks++;
      throw new Error('gone');
    };
    const running = new WatchCalendars({
      leadership,
      clock,
      logger,
      metrics,
      calendars: { ends: failing },
    }).run(stop.signal);
    await clock.advance(61_000);
    stop.abort();
    await running;
    expect([looks, logger.lines.length, clock.pendingTimers]).toEqual([2, 2, 0]);
  });
});
