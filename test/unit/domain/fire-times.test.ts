import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { WallPattern } from '../../../src/domain/cron/wall-pattern.js';
import { FireTimes, intervalAnchor, type Schedule } from '../../../src/domain/schedule.js';
import { anyCron } from './any-cron.js';
import { cronSchedule, intervalSchedule } from './definition.js';

const BASE = Date.UTC(2026, 2, 7);
const DAY_MS = 86_400_000;
const zones = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe'];
const nearBase = fc.integer({ min: BASE - 2 * DAY_MS, max: BASE + 2 * DAY_MS });
const bound = fc.option(nearBase);

const anySchedule: fc.Arbitrary<Schedule> = fc
  .tuple(
    fc.oneof(
      fc.tuple(anyCron(), fc.constantFrom(...zones)).map(([{ expr }, zone]) => cronSchedule(expr, zone)),
      fc
        .tuple(fc.integer({ min: 1, max: 200_000 }), nearBase)
        .map(([everySec, anchorAt]) => intervalSchedule(everySec, anchorAt)),
    ),
    bound,
    bound,
  )
  .map(([schedule, startAt, endAt]) => ({ ...schedule, startAt, endAt }));

describe('slots of any schedule', () => {
  it('next is strictly after, previous at or before, both within start and end', () => {
    fc.assert(
      fc.property(anySchedule, nearBase, (schedule, instant) => {
        const times = new FireTimes();
        const { startAt, endAt } = schedule as { startAt: number | null; endAt: number | null };
        const next = times.next(schedule, instant);
        const previous = times.previous(schedule, instant);
        if (next !== null) expect(next).toBeGreaterThan(instant);
        if (previous !== null) expect(previous).toBeLessThanOrEqual(instant);
        for (const slot of [next, previous]) {
          if (slot === null) continue;
          expect(slot).toBeGreaterThanOrEqual(startAt ?? -Infinity);
          expect(slot).toBeLessThanOrEqual(endAt ?? Infinity);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('previous finds what next has found: at it, 1 ms later, and up to the one after', () => {
    fc.assert(
      fc.property(anySchedule, nearBase, (schedule, instant) => {
        const times = new FireTimes();
        const slot = times.next(schedule, instant);
        if (slot === null) return;
        expect(times.previous(schedule, slot)).toBe(slot);
        expect(times.previous(schedule, slot + 1)).toBe(slot);
        const after = times.next(schedule, slot);
        if (after !== null) expect(times.previous(schedule, after - 1)).toBe(slot);
      }),
      { numRuns: 300 },
    );
  });

  it('nothing lies between a slot and the next: the answer is the same from any instant between', () => {
    fc.assert(
      fc.property(
        anySchedule,
        nearBase,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (schedule, instant, share) => {
          const times = new FireTimes();
          const slot = times.next(schedule, instant);
          if (slot === null) return;
          const between = instant + Math.floor((slot - 1 - instant) * share);
          expect(times.next(schedule, between)).toBe(slot);
          expect(times.previous(schedule, between)).toBe(times.previous(schedule, instant));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('an instance that has answered before answers as a new one does', () => {
    const question = fc.tuple(fc.constantFrom('next' as const, 'previous' as const), fc.nat(2), nearBase);
    fc.assert(
      fc.property(
        fc.tuple(anySchedule, anySchedule, anySchedule),
        fc.array(question),
        (schedules, questions) => {
          const used = new FireTimes();
          for (const [move, i, instant] of questions) {
            const schedule = schedules[i] as Schedule;
            expect(used[move](schedule, instant)).toBe(new FireTimes()[move](schedule, instant));
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('cron slots', () => {
  const times = new FireTimes();
  const nine = (timezone: string) => cronSchedule('0 9 * * *', timezone);

  it('answers of two zones, two expressions, or two directions are not mixed up', () => {
    const utc = Date.UTC(2026, 2, 7, 9);
    expect(times.next(nine('UTC'), BASE)).toBe(utc);
    expect(times.next(nine('Asia/Shanghai'), BASE)).toBe(utc - 8 * 3_600_000);
    expect(times.next(cronSchedule('0 10 * * *'), BASE)).toBe(utc + 3_600_000);
    expect(times.previous(nine('UTC'), BASE)).toBe(utc - DAY_MS);
    expect(times.next(nine('UTC'), BASE)).toBe(utc);
  });

  it('bounds belong to the schedule, not to the remembered answer', () => {
    const slot = Date.UTC(2026, 2, 7, 9);
    expect(times.next(nine('UTC'), BASE)).toBe(slot);
    expect(times.next(cronSchedule('0 9 * * *', 'UTC', { endAt: slot - 1 }), BASE)).toBeNull();
    expect(times.next(cronSchedule('0 9 * * *', 'UTC', { startAt: slot + 1 }), BASE)).toBe(slot + DAY_MS);
    expect(times.previous(cronSchedule('0 9 * * *', 'UTC', { startAt: slot - DAY_MS + 1 }), BASE)).toBeNull();
  });

  it.each([
    [-1, 0, -1000],
    [0, 1000, 0],
    [1, 1000, 0],
    [500, 1000, 0],
    [999, 1000, 0],
    [1000, 2000, 1000],
  ])('every second, asked %d ms past one: next in %d, previous at %d', (past, next, previous) => {
    const schedule = cronSchedule('* * * * * *');
    expect(times.next(schedule, BASE + past)).toBe(BASE + next);
    expect(times.previous(schedule, BASE + past)).toBe(BASE + previous);
  });

  it('a monthly slot is 27 days away on the 4th, not sooner', () => {
    expect(times.next(cronSchedule('0 0 1 * *'), Date.UTC(2026, 4, 5))).toBe(Date.UTC(2026, 5, 1));
  });

  it('a definition that was never valid is refused when it is asked, not answered', () => {
    expect(() => times.next(cronSchedule('0 9 * * *', 'Mars/Phobos'), BASE)).toThrow('timezone');
    expect(() => times.previous(cronSchedule('61 * * * * *'), BASE)).toThrow('cron_expr');
  });
});

it('the same question costs one search, whichever task asks', () => {
  const lookups = vi.spyOn(WallPattern.prototype, 'atOrAfter');
  try {
    const times = new FireTimes();
    const slot = times.next(cronSchedule('0 9 * * *', 'Asia/Shanghai'), BASE);
    const once = lookups.mock.calls.length;
    expect(once).toBeGreaterThan(0);
    expect(times.next(cronSchedule('0 9 * * *', 'Asia/Shanghai'), BASE)).toBe(slot);
    expect(lookups.mock.calls).toHaveLength(once);
  } finally {
    lookups.mockRestore();
  }
});

describe('interval slots', () => {
  const times = new FireTimes();

  it('are anchor + n × interval, whenever and however often they are asked', () => {
    const instant = fc.integer({ min: BASE, max: BASE + 10_000 * DAY_MS });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 31_622_400 }), instant, (everySec, now) => {
        const schedule = intervalSchedule(everySec, BASE);
        const next = times.next(schedule, now) ?? NaN;
        expect((next - BASE) % (everySec * 1000)).toBe(0);
        expect(next - now).toBeGreaterThan(0);
        expect(next - now).toBeLessThanOrEqual(everySec * 1000);
        expect(new FireTimes().next({ ...schedule }, now)).toBe(next);
      }),
    );
  });

  it('900 s from midnight make 96 slots a day, exactly 900 s apart', () => {
    const schedule = intervalSchedule(900, BASE);
    const slots: number[] = [];
    for (let slot = times.next(schedule, BASE); slot !== null && slot <= BASE + DAY_MS;) {
      slots.push(slot);
      slot = times.next(schedule, slot + 61_000);
    }
    expect(slots).toHaveLength(96);
    expect(new Set(slots.map((slot, i) => slot - (slots[i - 1] ?? BASE)))).toEqual(new Set([900_000]));
  });

  it('begin one interval after the anchor, or at start_at if that is the anchor', () => {
    expect(times.next(intervalSchedule(60, BASE), BASE - DAY_MS)).toBe(BASE + 60_000);
    expect(times.previous(intervalSchedule(60, BASE), BASE + 59_999)).toBeNull();
    const started = intervalSchedule(60, BASE, { startAt: BASE });
    expect(times.next(started, BASE - DAY_MS)).toBe(BASE);
    expect(times.next(started, BASE - 1)).toBe(BASE);
    expect(times.previous(started, BASE)).toBe(BASE);
    expect(times.previous(started, BASE - 1)).toBeNull();
  });

  it('are anchored at start_at, else at the whole second of creation', () => {
    expect(intervalAnchor(null, BASE + 789)).toBe(BASE);
    expect(intervalAnchor(BASE + 5, BASE + 789)).toBe(BASE + 5);
  });
});

describe('bounds', () => {
  const times = new FireTimes();
  const hour = 3_600_000;

  it.each([
    ['cron', cronSchedule('0 * * * *', 'UTC', { startAt: BASE, endAt: BASE + 2 * hour })],
    ['interval', intervalSchedule(3600, BASE, { startAt: BASE, endAt: BASE + 2 * hour })],
  ])('of %s are inclusive at both ends', (_, schedule) => {
    expect(times.next(schedule, 0)).toBe(BASE);
    expect(times.next(schedule, BASE)).toBe(BASE + hour);
    expect(times.next(schedule, BASE + hour)).toBe(BASE + 2 * hour);
    expect(times.next(schedule, BASE + 2 * hour)).toBeNull();
    expect(times.previous(schedule, BASE + 100 * hour)).toBe(BASE + 2 * hour);
    expect(times.previous(schedule, BASE)).toBe(BASE);
    expect(times.previous(schedule, BASE - 1)).toBeNull();
    expect(times.next({ ...schedule, startAt: BASE + 1 }, 0)).toBe(BASE + hour);
    expect(times.previous({ ...schedule, endAt: BASE + 2 * hour - 1 }, BASE + 100 * hour)).toBe(BASE + hour);
  });

  it('a single run is its own first and last slot', () => {
    const once: Schedule = { type: 'once', runAt: BASE };
    expect(times.next(once, BASE - 1)).toBe(BASE);
    expect(times.next(once, BASE)).toBeNull();
    expect(times.previous(once, BASE - 1)).toBeNull();
    expect(times.previous(once, BASE)).toBe(BASE);
    expect(times.previous(once, BASE + DAY_MS)).toBe(BASE);
  });
});
