import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACKLOG_PACE_MS, decideDue, type DueDecision } from '../../../src/domain/misfire.js';
import { type MisfirePolicy, type Policy } from '../../../src/domain/policy.js';
import { FireTimes } from '../../../src/domain/schedule.js';
import { TaskSlots } from '../../../src/domain/timetable.js';
import { buildUse } from '../../support/calendars.js';
import { cronSchedule, policyOf } from './definition.js';
import { verdictOf } from './misfire-oracle.js';

const MINUTE_MS = 60_000;
const BASE = Date.UTC(2026, 0, 5, 12);

const at = (minute: number): string => new Date(BASE + minute * MINUTE_MS).toISOString().slice(11, 19);

/** Every minute from 12:00 to 12:59, but for `[from, to)` of each pair. */
function everyMinuteBut(times: readonly (readonly [from: number, to: number])[]) {
  const excludedTimes = times.map(([from, to]) => ({ from: at(from), to: at(to) }));
  const schedule = cronSchedule('* * * * *', 'UTC', { calendar: buildUse({ weekend: [], excludedTimes }) });
  const slots = new TaskSlots({ schedule, former: [] }, new FireTimes());
  const isExcluded = (slot: number) =>
    times.some(([from, to]) => slot >= BASE + from * MINUTE_MS && slot < BASE + to * MINUTE_MS);
  return { slots, isExcluded };
}

const decide = (slots: TaskSlots, policy: Policy, cursor: number, now: number): DueDecision =>
  decideDue({ taskId: 'task', slots, policy, cursor, now });

const minute = (n: number): number => BASE + n * MINUTE_MS;

describe('a slot that the calendar excludes', () => {
  const { slots } = everyMinuteBut([[10, 15]]);

  it('is skipped when it is due, one by one while nothing is late', () => {
    expect(decide(slots, policyOf(), minute(10), minute(10) + 5)).toEqual({
      fire: null,
      skipped: { reason: 'calendar', from: minute(10), to: minute(10), slots: 1 },
      nextSlot: minute(11),
      holdUntil: null,
    });
  });

  it('is skipped in one range with those after it that are due, up to the next that fires', () => {
    const late = decide(slots, policyOf(), minute(10), minute(40));
    expect(late).toMatchObject({
      skipped: { from: minute(10), to: minute(14), slots: 5 },
      nextSlot: minute(15),
    });
  });

  it('ends a range of missed slots, and is no missed slot itself', () => {
    const first = decide(slots, policyOf({ misfirePolicy: 'fire_once' }), minute(5), minute(12));
    expect(first).toEqual({
      fire: { slot: minute(9), isMisfire: true },
      skipped: { reason: 'misfire', from: minute(5), to: minute(8), slots: 4 },
      nextSlot: minute(10),
      holdUntil: minute(12) + BACKLOG_PACE_MS,
    });
    const second = decide(slots, policyOf({ misfirePolicy: 'fire_once' }), minute(5), minute(20));
    expect(second).toMatchObject({
      fire: null,
      skipped: { reason: 'misfire', to: minute(9) },
      nextSlot: minute(10),
      holdUntil: null,
    });
  });

  it('is not fired in place of missed ones that are skipped', () => {
    const decision = decide(
      slots,
      policyOf({ misfirePolicy: 'skip', windowSec: 50 }),
      minute(9),
      minute(10) + 1000,
    );
    expect(decision).toMatchObject({
      fire: null,
      skipped: { reason: 'misfire', from: minute(9), to: minute(9) },
      nextSlot: minute(10),
    });
  });

  it('does not count towards misfire_limit', () => {
    const policy = policyOf({ misfirePolicy: 'catch_up', misfireLimit: 3, misfireMaxAgeSec: 86_400 });
    const fired: number[] = [];
    let cursor: number | null = minute(5);
    while (cursor !== null && cursor < minute(16)) {
      const { fire, nextSlot }: DueDecision = decide(slots, policy, cursor, minute(16) - 1);
      if (fire !== null) fired.push(fire.slot);
      cursor = nextSlot;
    }
    expect(fired).toEqual([minute(8), minute(9), minute(15)]);
  });
});

it('every slot is decided once: excluded ones by the calendar, the others as if those were none', () => {
  const anyTimes = fc
    .uniqueArray(fc.nat(39), { minLength: 2, maxLength: 8 })
    .map((edges) => edges.sort((a, b) => a - b))
    .map((edges) =>
      edges.flatMap((from, i) =>
        i % 2 === 0 && i + 1 < edges.length ? [[from, edges[i + 1] ?? 0] as const] : [],
      ),
    );
  const anyPolicy = fc
    .record({
      misfirePolicy: fc.constantFrom<MisfirePolicy>('skip', 'fire_once', 'catch_up'),
      misfireLimit: fc.integer({ min: 1, max: 40 }),
      misfireMaxAgeSec: fc.integer({ min: 1, max: 3000 }),
      windowSec: fc.constantFrom(1, 5, 90, 300),
    })
    .map(policyOf);
  fc.assert(
    fc.property(anyTimes, anyPolicy, fc.nat(30), fc.nat(39 * 60_000), (times, policy, first, lateMs) => {
      const { slots, isExcluded } = everyMinuteBut(times);
      const now = Math.min(minute(first) + lateMs, minute(39));
      const due = Array.from({ length: 41 }, (_, n) => minute(n)).filter((slot) => slot >= minute(first));
      const expected = verdictOf(
        due.filter((slot) => !isExcluded(slot)),
        policy,
        now,
      );
      const decided: number[] = [];
      let fire: DueDecision['fire'] = null;
      for (let cursor: number | null = minute(first); fire === null && cursor !== null && cursor <= now;) {
        const decision: DueDecision = decide(slots, policy, cursor, now);
        const { skipped } = decision;
        const range =
          skipped === null ? [] : due.filter((slot) => slot >= skipped.from && slot <= skipped.to);
        for (const slot of range) expect(isExcluded(slot)).toBe(skipped?.reason === 'calendar');
        if (skipped !== null) expect(skipped.slots).toBe(range.length);
        ({ fire } = decision);
        decided.push(...range, ...(fire === null ? [] : [fire.slot]));
        cursor = decision.nextSlot;
      }
      expect(fire).toEqual(expected.fire);
      expect(decided).toEqual(due.slice(0, decided.length));
      const last = fire?.slot ?? now;
      expect(decided.length).toBe(due.filter((slot) => slot <= last).length);
    }),
    { numRuns: 300 },
  );
});
