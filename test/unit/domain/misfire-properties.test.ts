import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACKLOG_PACE_MS, decideDue, type DueDecision } from '../../../src/domain/misfire.js';
import { type Policy } from '../../../src/domain/policy.js';
import { COUNT_LIMIT, FireTimes, type Schedule } from '../../../src/domain/schedule.js';
import { TaskSlots } from '../../../src/domain/timetable.js';
import { anyCron } from './any-cron.js';
import { cronSchedule, intervalSchedule, policyOf } from './definition.js';
import { verdictOf } from './misfire-oracle.js';
import { walkClock, walkedSlots } from './walked-slots.js';

const BASE = Date.UTC(2026, 0, 5, 12);
const SPAN_MS = 40 * 60_000;
const walk = walkClock('UTC', BASE, BASE + SPAN_MS, 1000);

const slotsOf = (schedule: Schedule) => new TaskSlots({ schedule, former: [] }, new FireTimes());

/** A schedule and all its slots of a while, worked out without the code under test. */
interface Drawn {
  readonly schedule: Schedule;
  readonly slots: readonly number[];
}

const anyInterval: fc.Arbitrary<Drawn> = fc.integer({ min: 1, max: 400 }).map((everySec) => ({
  schedule: intervalSchedule(everySec, BASE),
  slots: Array.from(
    { length: Math.floor(SPAN_MS / (everySec * 1000)) },
    (_, n) => BASE + (n + 1) * everySec * 1000,
  ),
}));

const anyDrawnCron: fc.Arbitrary<Drawn> = anyCron({ hasSeconds: true, isDaily: true })
  .map((drawn) => ({ schedule: cronSchedule(drawn.expr), slots: walkedSlots(drawn, walk, 1000) }))
  .filter(({ slots }) => slots.length > 1);

const frequentCron = fc
  .constantFrom<[string, (second: number) => boolean]>(
    ['* * * * * *', () => true],
    ['*/7 * * * * *', (second) => (second % 60) % 7 === 0],
    ['0-9 * * * * *', (second) => second % 60 < 10],
    ['* * * * *', (second) => second % 60 === 0],
    ['*/3 * * * *', (second) => second % 180 === 0],
  )
  .map(([expr, isSlot]): Drawn => ({
    schedule: cronSchedule(expr),
    slots: walk.map(({ instant }) => instant).filter((instant) => isSlot(instant / 1000)),
  }));

const anyDrawn = fc.oneof(anyInterval, frequentCron, anyDrawnCron).map((drawn) => ({
  ...drawn,
  [fc.toStringMethod]: () => JSON.stringify(drawn.schedule),
}));

const anyPolicy: fc.Arbitrary<Policy> = fc
  .record({
    misfirePolicy: fc.constantFrom('skip' as const, 'fire_once' as const, 'catch_up' as const),
    misfireLimit: fc.oneof(fc.constantFrom(1, 2, 10), fc.integer({ min: 1, max: 60 })),
    misfireMaxAgeSec: fc.oneof(fc.constantFrom(1, 2, 3), fc.integer({ min: 1, max: 3000 })),
    windowSec: fc.oneof(fc.constantFrom(1, 5), fc.integer({ min: 1, max: 600 })),
  })
  .map(policyOf);

/** A slot to start from, how late the first decision is, and whether the slot stems from before an edit of the schedule. */
const anyStart = fc.record({
  index: fc.nat(20),
  lateMs: fc.oneof(fc.nat(30_000), fc.nat(SPAN_MS * 0.4)),
  editedMs: fc.option(fc.integer({ min: 1, max: 100_000 })),
});
type Start = typeof anyStart extends fc.Arbitrary<infer T> ? T : never;

function place({ slots }: Drawn, { index, lateMs, editedMs }: Start) {
  const undecided = slots.slice(index % Math.max(1, slots.length - 1));
  const first = undecided[0] ?? NaN;
  const cursor = Math.max(BASE, first - (editedMs ?? 0));
  const later = slots.filter((slot) => slot > cursor);
  return { undecided: [cursor, ...later], cursor, now: cursor + lateMs };
}

describe('one decision', () => {
  it('is what the list of all undecided slots says', () => {
    fc.assert(
      fc.property(anyDrawn, anyPolicy, anyStart, (drawn, policy, start) => {
        const { undecided, cursor, now } = place(drawn, start);
        fc.pre(now < BASE + SPAN_MS);
        const decision = decideDue({ taskId: 'task', slots: slotsOf(drawn.schedule), policy, cursor, now });
        const expected = verdictOf(undecided, policy, now);
        expect(decision.fire).toEqual(expected.fire);
        if (expected.nextSlot !== null) expect(decision.nextSlot).toBe(expected.nextSlot);
        else expect(decision.nextSlot).toBeGreaterThan(undecided.at(-1) ?? NaN);
        const isCounted = drawn.schedule.type === 'interval' || (expected.skipped?.slots ?? 0) <= COUNT_LIMIT;
        expect(decision.skipped).toEqual(
          isCounted || expected.skipped === null ? expected.skipped : { ...expected.skipped, slots: null },
        );
      }),
      { numRuns: 400 },
    );
  });

  it('holds back a slot that is due already, and never beyond its window', () => {
    fc.assert(
      fc.property(anyDrawn, anyPolicy, anyStart, (drawn, policy, start) => {
        const { cursor, now } = place(drawn, start);
        const { nextSlot, holdUntil } = decideDue({
          taskId: 'task',
          slots: slotsOf(drawn.schedule),
          policy,
          cursor,
          now,
        });
        const isDue = nextSlot !== null && nextSlot <= now;
        expect(holdUntil !== null).toBe(isDue);
        if (!isDue || holdUntil === null) return;
        expect(holdUntil).toBeGreaterThanOrEqual(now);
        expect(holdUntil).toBeLessThanOrEqual(now + BACKLOG_PACE_MS);
        const windowEnd = nextSlot + policy.windowSec * 1000;
        if (windowEnd >= now) expect(holdUntil).toBeLessThanOrEqual(windowEnd);
        else expect(holdUntil).toBe(now + BACKLOG_PACE_MS);
      }),
      { numRuns: 300 },
    );
  });
});

interface Step {
  readonly now: number;
  readonly decision: DueDecision;
}

/** Decides again and again, each time when the decision before said, until `end`. */
function decideUntil(
  schedule: Schedule,
  policy: Policy,
  from: { cursor: number; now: number },
  end: number,
): Step[] {
  const steps: Step[] = [];
  const slots = slotsOf(schedule);
  let { cursor, now }: { cursor: number | null; now: number } = from;
  while (cursor !== null && now <= end) {
    const decision = decideDue({ taskId: 'task', slots, policy, cursor, now });
    steps.push({ now, decision });
    cursor = decision.nextSlot;
    now = decision.holdUntil ?? Math.max(now, cursor ?? 0);
  }
  return steps;
}

describe('decisions one after another', () => {
  const run = (
    check: (steps: Step[], context: { slots: readonly number[]; policy: Policy; now: number }) => void,
  ) =>
    fc.assert(
      fc.property(anyDrawn, anyPolicy, anyStart, (drawn, policy, start) => {
        const { undecided, cursor, now } = place(drawn, start);
        const end = Math.min(now + 30_000, BASE + SPAN_MS - 1);
        fc.pre(now < end);
        const steps = decideUntil(drawn.schedule, policy, { cursor, now }, end);
        check(steps, { slots: undecided, policy, now });
      }),
      { numRuns: 100 },
    );

  it('cover every slot exactly once, fired or in a skipped range', () => {
    run((steps, { slots }) => {
      const fates = new Map<number, number>(slots.map((slot) => [slot, 0]));
      const count = (slot: number) => fates.set(slot, (fates.get(slot) ?? NaN) + 1);
      for (const { decision } of steps) {
        const { fire, skipped } = decision;
        if (fire !== null) count(fire.slot);
        if (skipped !== null) {
          expect([fates.has(skipped.from), fates.has(skipped.to)]).toEqual([true, true]);
          slots.filter((slot) => slot >= skipped.from && slot <= skipped.to).forEach(count);
        }
      }
      const undecidedFrom = steps.at(-1)?.decision.nextSlot ?? Infinity;
      for (const [slot, times] of fates) expect([slot, times]).toEqual([slot, slot < undecidedFrom ? 1 : 0]);
    });
  });

  it('fire in order, late ones flagged, and skip only what is past its window', () => {
    run((steps, { policy }) => {
      let last = -Infinity;
      for (const { now, decision } of steps) {
        const hasPassed = (slot: number) => slot + policy.windowSec * 1000 < now;
        if (decision.skipped !== null) expect(hasPassed(decision.skipped.to)).toBe(true);
        if (decision.fire === null) continue;
        expect(decision.fire.slot).toBeGreaterThan(last);
        expect(decision.fire.slot).toBeLessThanOrEqual(now);
        expect(decision.fire.isMisfire).toBe(hasPassed(decision.fire.slot));
        last = decision.fire.slot;
      }
    });
  });

  it('skip in the first alone: going on in time loses nothing', () => {
    run((steps) => {
      for (const { decision } of steps.slice(1)) expect(decision.skipped).toBeNull();
    });
  });

  it('fire each slot that was on time at first on time, unless older ones are caught up before it', () => {
    run((steps, { policy, now }) => {
      if (policy.misfirePolicy === 'catch_up') return;
      const late = steps.filter(({ decision }) => decision.fire?.isMisfire === true);
      expect(late.length).toBeLessThanOrEqual(policy.misfirePolicy === 'fire_once' ? 1 : 0);
      for (const { decision } of late) {
        expect(decision.fire?.slot).toBeLessThan(now - policy.windowSec * 1000);
      }
    });
  });

  it('pace late slots', () => {
    run((steps) => {
      for (const [i, { now, decision }] of steps.entries()) {
        const before = steps[i - 1];
        if (before === undefined || decision.fire?.isMisfire !== true) continue;
        expect(now - before.now).toBeGreaterThanOrEqual(BACKLOG_PACE_MS);
      }
    });
  });
});
