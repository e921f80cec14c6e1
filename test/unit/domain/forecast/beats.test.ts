import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beatsOf } from '../../../../src/domain/forecast/beats.js';
import { addRuns, Load } from '../../../../src/domain/forecast/load.js';
import { FireTimes, type Schedule } from '../../../../src/domain/schedule.js';
import { buildUse, listed } from '../../../support/calendars.js';
import { anyCron } from '../any-cron.js';
import { cronSchedule, intervalSchedule } from '../definition.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Clocks are put forward in New York, and half an hour back in Lord Howe, within a month. */
const BASE = Date.UTC(2026, 2, 7);
const near = fc.integer({ min: BASE - 40 * HOUR, max: BASE + 40 * HOUR });
const zones = ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];

/** One cuts minutes in two. */
const ODD_TIMES = buildUse({
  weekend: [],
  excludedTimes: [
    { from: '01:00:30', to: '01:10:20' },
    { from: '08:30:00', to: '17:00:07' },
  ],
});
const WEEKENDS = buildUse({ holidays: listed('2026-03-09') });

const anySchedule: fc.Arbitrary<Schedule> = fc
  .tuple(
    fc.oneof(
      fc
        .tuple(fc.boolean(), fc.constantFrom(...zones))
        .chain(([hasSeconds, zone]) =>
          fc
            .tuple(anyCron({ hasSeconds }), fc.constantFrom(null, null, ODD_TIMES, WEEKENDS))
            .map(([{ expr }, calendar]) => cronSchedule(expr, zone, { calendar })),
        ),
      fc
        .tuple(fc.integer({ min: 1, max: 20_000 }), near)
        .map(([sec, anchor]) => intervalSchedule(sec, anchor)),
    ),
    fc.option(near),
    fc.option(near),
  )
  .map(([schedule, startAt, endAt]) => ({ ...schedule, startAt, endAt }));

function walk(schedule: Schedule, from: number, to: number): number[] {
  const times = new FireTimes();
  const slots: number[] = [];
  for (let slot = times.next(schedule, from - 1); slot !== null && slot < to;) {
    if (times.exclusionOf(schedule, slot) === null) slots.push(slot);
    slot = times.next(schedule, slot);
  }
  return slots;
}

/** Where clocks change, so that hours are missing or come twice. */
const CHANGES = [
  Date.UTC(2026, 2, 8, 7),
  Date.UTC(2026, 10, 1, 6),
  Date.UTC(2026, 3, 4, 15),
  Date.UTC(2026, 9, 3, 15, 30),
];

describe('beatsOf', () => {
  it('counts for each minute what walking from slot to slot finds, in any schedule', () => {
    fc.assert(
      fc.property(
        anySchedule,
        fc.oneof(
          near,
          fc.constantFrom(...CHANGES).map((at) => at - 100 * MINUTE),
        ),
        fc.integer({ min: 1, max: 200 * MINUTE }),
        (schedule, from, length) => {
          const beats = beatsOf(schedule, from, from + length);
          const slots = walk(schedule, from, from + length);
          const minutes = new Map<number, number[]>();
          for (const slot of slots) {
            const minute = Math.floor(slot / MINUTE);
            minutes.set(minute, [...(minutes.get(minute) ?? []), slot]);
          }
          const found = new Map<number, number>();
          for (const [i, at] of beats.firstAt.entries()) {
            const minute = Math.floor(at / MINUTE);
            found.set(minute, (found.get(minute) ?? 0) + (beats.starts[i] ?? 0));
            expect(minutes.get(minute)?.includes(at)).toBe(true);
            expect(minutes.get(minute)?.includes(beats.lastAt[i] ?? NaN)).toBe(true);
          }
          expect([...found]).toEqual([...minutes].map(([minute, list]) => [minute, list.length]));
          const gaps = slots.slice(1).map((slot, i) => slot - (slots[i] ?? NaN));
          if (schedule.type === 'cron') expect(beats.gapMs).toBe(Math.min(Infinity, ...gaps));
          else if (gaps.length > 0) expect(beats.gapMs).toBe(gaps[0]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('takes a step for each minute of a dense schedule, not for each slot', () => {
    for (const schedule of [cronSchedule('* * * * * *'), intervalSchedule(1, BASE)]) {
      const beats = beatsOf(schedule, BASE + HOUR, BASE + 2 * HOUR);
      expect(beats.starts).toEqual(Array.from({ length: 60 }, () => 60));
      expect(beats.gapMs).toBe(1000);
    }
  });
});

describe('addRuns', () => {
  it('starts every slot of the range once, and has at least as many runs at once as there are, up to the bound', () => {
    fc.assert(
      fc.property(
        anySchedule,
        fc.integer({ min: 1, max: 20 * MINUTE }),
        fc.integer({ min: 1, max: 5 }),
        (schedule, durationMs, maxAtOnce) => {
          const range = { begin: BASE, minutes: 90 };
          const [from, to] = [BASE - HOUR, BASE + 90 * MINUTE];
          const load = new Load(range);
          addRuns(beatsOf(schedule, from, to), { durationMs, maxAtOnce }, range, [load]);
          const slots = walk(schedule, from, to);
          const inRange = slots.filter((slot) => slot >= BASE);
          expect(load.startsTotal).toBe(inRange.length);
          for (let minute = 0; minute < range.minutes; minute++) {
            const [begin, end] = [BASE + minute * MINUTE, BASE + (minute + 1) * MINUTE];
            expect(load.startsIn(minute)).toBe(inRange.filter((at) => at >= begin && at < end).length);
            const moments = [begin, ...slots.filter((at) => at >= begin && at < end)];
            const atOnce = moments.map(
              (now) => slots.filter((at) => at <= now && at + durationMs > now).length,
            );
            expect(load.runningIn(minute)).toBeGreaterThanOrEqual(
              Math.min(maxAtOnce, ...[Math.max(...atOnce)]),
            );
            expect(load.runningIn(minute)).toBeLessThanOrEqual(maxAtOnce);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
