import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DST_GAPS, DST_OVERLAPS } from '../../../src/domain/cron.js';
import { anyCron } from './any-cron.js';
import { cronOf } from './cron-of.js';
import { walkClock, walkedSlots } from './walked-slots.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Changes of clocks of every kind: an hour, half an hour, two hours, at midnight, a whole day left out, in negative saving time. */
const CHANGES: readonly (readonly [timezone: string, near: string])[] = [
  ['America/New_York', '2026-03-08T07:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00:00Z'],
  ['Africa/Cairo', '2025-04-24T22:00:00Z'],
  ['Africa/Cairo', '2025-10-30T21:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['America/Havana', '2026-11-01T05:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Africa/Casablanca', '2025-04-06T02:00:00Z'],
  ['Asia/Kolkata', '2026-06-01T00:00:00Z'],
];

/** Walks are the same for all runs and take long. */
const walks = CHANGES.map(([timezone, near]) => {
  const from = Date.parse(near) - 50 * HOUR_MS;
  return { timezone, from, walk: walkClock(timezone, from, from + 75 * HOUR_MS, MINUTE_MS) };
});

const anyRules = fc.record({
  dstGap: fc.constantFrom(...DST_GAPS),
  dstOverlap: fc.constantFrom(...DST_OVERLAPS),
});

describe('fire times of a cron expression', () => {
  it('are those of a walk along the clock, near changes of it too', () => {
    fc.assert(
      fc.property(
        anyCron(),
        fc.constantFrom(...walks),
        anyRules,
        (drawn, { timezone, from, walk }, rules) => {
          const cron = cronOf(drawn.expr, timezone, rules);
          const begin = from + 25 * HOUR_MS;
          const end = walk.at(-1)?.instant ?? 0;
          const expected = walkedSlots(drawn, walk, MINUTE_MS, rules).filter((slot) => slot > begin);
          let after = begin;
          for (const slot of expected.slice(0, 200)) {
            expect(cron.next(after)).toBe(slot);
            after = slot;
          }
          if (expected.length <= 200) expect(cron.next(after)).toBeGreaterThan(end);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('are found from any instant, forwards and backwards', () => {
    const anywhere = fc.integer({ min: 25 * HOUR_MS, max: 75 * HOUR_MS - 1 });
    const nearChange = fc.integer({ min: 47 * HOUR_MS, max: 53 * HOUR_MS });
    fc.assert(
      fc.property(
        anyCron({ isDaily: true }),
        fc.constantFrom(...walks),
        fc.oneof(anywhere, nearChange),
        anyRules,
        (drawn, { timezone, from, walk }, ms, rules) => {
          const cron = cronOf(drawn.expr, timezone, rules);
          const slots = walkedSlots(drawn, walk, MINUTE_MS, rules);
          const next = slots.find((slot) => slot > from + ms);
          if (next !== undefined) expect(cron.next(from + ms)).toBe(next);
          else expect(cron.next(from + ms)).toBeGreaterThan(walk.at(-1)?.instant ?? NaN);
          const previous = slots.findLast((slot) => slot <= from + ms);
          if (previous !== undefined) expect(cron.previous(from + ms)).toBe(previous);
          else expect(cron.previous(from + ms)).toBeLessThan(from);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('with seconds are those of a walk by the second', () => {
    const base = Date.UTC(2026, 1, 28, 23);
    const walk = walkClock('UTC', base, base + 2 * HOUR_MS, 1000);
    fc.assert(
      fc.property(anyCron({ hasSeconds: true }), fc.integer({ min: 0, max: HOUR_MS }), (drawn, ms) => {
        const cron = cronOf(drawn.expr, 'UTC');
        const slots = walkedSlots(drawn, walk, 1000);
        const next = slots.find((slot) => slot > base + ms);
        if (next !== undefined) expect(cron.next(base + ms)).toBe(next);
        else expect(cron.next(base + ms)).toBeGreaterThan(base + 2 * HOUR_MS);
        const previous = slots.findLast((slot) => slot <= base + ms);
        if (previous !== undefined) expect(cron.previous(base + ms)).toBe(previous);
        else expect(cron.previous(base + ms)).toBeLessThan(base);
      }),
      { numRuns: 200 },
    );
  });

  it('do not depend on what was asked before', () => {
    const instant = fc.integer({ min: 0, max: Date.UTC(2040, 0) });
    const question = fc.tuple(fc.constantFrom('next' as const, 'previous' as const), instant);
    fc.assert(
      fc.property(
        anyCron(),
        fc.constantFrom(...CHANGES),
        fc.array(question, { maxLength: 6 }),
        (drawn, [zone], asked) => {
          const used = cronOf(drawn.expr, zone);
          const answers = asked.map(([move, at]) => used[move](at));
          expect(answers).toEqual(asked.map(([move, at]) => cronOf(drawn.expr, zone)[move](at)));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('reach over decades and far back', () => {
    const leapMonday = cronOf('0 9 ? 2 1#5', 'America/New_York');
    expect(leapMonday.next(Date.UTC(2026, 0))).toBe(Date.parse('2044-02-29T09:00:00-05:00'));
    expect(leapMonday.previous(Date.UTC(2026, 0))).toBe(Date.parse('2016-02-29T09:00:00-05:00'));
    const everyFiveMinutes = cronOf('*/5 9 29 2 *', 'America/New_York');
    expect(everyFiveMinutes.next(Date.UTC(2096, 2))).toBe(Date.parse('2104-02-29T09:00:00-05:00'));
    expect(everyFiveMinutes.previous(Date.UTC(2103, 0))).toBe(Date.parse('2096-02-29T09:55:00-05:00'));
  });

  it.each([
    ['the repeated hour ends', '0 2 * * *', '2026-10-31T06:00:00Z', '2026-11-01T07:00:00Z'],
    ['it is in its second pass', '30 1 * * *', '2026-11-01T06:10:00Z', '2026-11-02T06:30:00Z'],
    ['it is in its first', '30 1 * * *', '2026-11-01T05:10:00Z', '2026-11-01T05:30:00Z'],
    ['a rare job is in its first pass', '*/30 1 1 11 *', '2026-11-01T05:30:00Z', '2026-11-01T06:00:00Z'],
    ['the gap begins', '0 2 * * *', '2026-03-08T06:59:59Z', '2026-03-08T07:00:00Z'],
    ['the gap has just ended', '30 2 * * *', '2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'],
  ])('where %s, in New York: %s', (_, expr, after, expected) => {
    expect(cronOf(expr, 'America/New_York').next(Date.parse(after))).toBe(Date.parse(expected));
  });

  it.each([
    ['30 1 7 11 *', '2027-11-07T06:10:00Z', '2027-11-07T05:30:00Z'],
    ['30 12 8 3 *', '2026-12-01T00:00:00Z', '2026-03-08T16:30:00Z'],
    ['*/30 2 8 3 *', '2026-03-09T00:00:00Z', '2025-03-08T07:30:00Z'],
    ['0 2 8 3 *', '2026-03-09T00:00:00Z', '2026-03-08T07:00:00Z'],
  ])('%s, backwards from %s in New York', (expr, instant, expected) => {
    expect(cronOf(expr, 'America/New_York').previous(Date.parse(instant))).toBe(Date.parse(expected));
  });

  it.each([
    [
      'a search that ended without an answer',
      '32,35 26 8 * 4-6 */3',
      '2026-04-04T13:56:25.303Z',
      '2026-04-04T21:56:32Z',
    ],
    ['an answer before the question', '* 28 * * * *', '2026-04-04T14:28:59Z', '2026-04-04T15:58:00Z'],
  ])('of cron-parser were once %s', (_, expr, after, expected) => {
    expect(cronOf(expr, 'Australia/Lord_Howe').next(Date.parse(after))).toBe(Date.parse(expected));
  });
});
