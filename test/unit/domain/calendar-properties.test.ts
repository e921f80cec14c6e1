import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CalendarDays } from '../../../src/domain/calendar-days.js';
import { CalendarUse } from '../../../src/domain/calendar-use.js';
import { FireTimes } from '../../../src/domain/schedule.js';
import { type DrawnUse, anyUse } from './any-calendar.js';
import { anyCron, type DrawnCron } from './any-cron.js';
import { cronSchedule } from './definition.js';
import { walkClock, walkedSlots } from './walked-slots.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS = 14;

/** Each with a change of the clocks within the time that is walked, but for Shanghai. */
const ZONES: readonly (readonly [zone: string, from: number])[] = [
  ['Asia/Shanghai', Date.UTC(2026, 8, 25)],
  ['America/New_York', Date.UTC(2026, 2, 1)],
  ['Australia/Lord_Howe', Date.UTC(2026, 8, 25)],
  ['Africa/Cairo', Date.UTC(2026, 3, 18)],
  ['Pacific/Apia', Date.UTC(2011, 11, 24)],
];

describe.each(ZONES)('cron with a calendar in %s', (zone, from) => {
  const to = from + DAYS * DAY_MS;
  const walk = walkClock(zone, from, to, MINUTE_MS);
  const walls = new Map(walk.map(({ instant, wall }) => [instant, wall]));
  const drawn = fc.record({ cron: anyCron(), use: anyUse(from, to) }).map((both) => ({
    ...both,
    [fc.toStringMethod]: () => JSON.stringify([both.cron.expr, both.use]),
  }));

  const scheduleOf = (cron: DrawnCron, use: DrawnUse) =>
    cronSchedule(cron.expr, zone, {
      calendar: new CalendarUse(new CalendarDays(use.calendar), use.rule, use.shift),
    });
  const expectedSlots = (cron: DrawnCron, use: DrawnUse) =>
    walkedSlots(use.shifted(cron), walk, MINUTE_MS).filter((slot) => slot > from);
  const isExcluded = (use: DrawnUse, slot: number) => use.excludes(walls.get(slot) ?? NaN);

  it('has the slots that a walk over every day and minute finds, forwards and backwards', () => {
    fc.assert(
      fc.property(drawn, ({ cron, use }) => {
        const schedule = scheduleOf(cron, use);
        const times = new FireTimes(false);
        const expected = expectedSlots(cron, use).slice(0, 500);
        const last = expected.at(-1) ?? to;
        const forwards: number[] = [];
        for (let slot = times.next(schedule, from); slot !== null && slot <= last;)
          slot = times.next(schedule, forwards[forwards.push(slot) - 1] ?? NaN);
        expect(forwards).toEqual(expected);
        const backwards: number[] = [];
        for (let slot = times.previous(schedule, last); slot !== null && slot > from;)
          slot = times.previous(schedule, (backwards[backwards.push(slot) - 1] ?? NaN) - 1);
        expect(backwards.reverse()).toEqual(expected);
      }),
      { numRuns: 10 },
    );
  });

  it('excludes those of its days and times, and finds the others', () => {
    fc.assert(
      fc.property(
        drawn,
        fc.array(fc.tuple(fc.nat(DAYS * 1440), fc.nat(DAYS * 1440)), { maxLength: 5 }),
        ({ cron, use }, spans) => {
          const schedule = scheduleOf(cron, use);
          const times = new FireTimes(false);
          const slots = expectedSlots(cron, use);
          for (const slot of slots.slice(0, 300))
            expect(times.exclusionOf(schedule, slot) !== null).toBe(isExcluded(use, slot));
          for (const [a, b] of spans) {
            const [begin, end] = [from + Math.min(a, b) * MINUTE_MS, from + Math.max(a, b) * MINUTE_MS];
            const within = slots.filter((slot) => slot > begin && slot <= end);
            const firing = within.filter((slot) => !isExcluded(use, slot));
            expect(times.nextFiring(schedule, begin, end)).toBe(firing[0] ?? null);
            expect(times.previousFiring(schedule, end, begin + 1)).toBe(firing.at(-1) ?? null);
            expect(times.nextExcluded(schedule, begin, end)).toBe(
              within.find((slot) => isExcluded(use, slot)) ?? null,
            );
          }
        },
      ),
      { numRuns: 10 },
    );
  });
});
