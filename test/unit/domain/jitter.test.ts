import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fireAt } from '../../../src/domain/jitter.js';
import { decideDue } from '../../../src/domain/misfire.js';
import { FireTimes, type Schedule } from '../../../src/domain/schedule.js';
import { TaskSlots } from '../../../src/domain/timetable.js';
import { BASE } from '../../support/builders.js';
import { cronSchedule, intervalSchedule, policyOf } from './definition.js';

const HOUR = 3_600_000;
const slotsOf = (schedule: Schedule) => new TaskSlots({ schedule, former: [] }, new FireTimes());

const anyJittered: fc.Arbitrary<Schedule> = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(1, 10, 60, 600).map((everySec) => intervalSchedule(everySec, BASE)),
      fc
        .constantFrom('*/5 * * * * *', '* * * * *', '3,4,30 * * * *', '0 0 1 * *')
        .map((expr) => cronSchedule(expr)),
    ),
    fc.constantFrom(1, 30, 300, 86_400),
  )
  .map(([schedule, jitterSec]) => ({ ...schedule, jitterSec }));
const anyId = fc.stringMatching(/^[a-z0-9-]{1,20}$/);

/** Each decision at the instant that the one before named. */
function firesOf(schedule: Schedule, id: string, count: number) {
  const slots = slotsOf(schedule);
  const fires: { slot: number; at: number; isMisfire: boolean }[] = [];
  let cursor = slots.next(BASE) ?? NaN;
  for (let now = cursor; fires.length < count;) {
    const { fire, nextSlot, holdUntil } = decideDue({
      ...{ taskId: id, slots, policy: policyOf({ windowSec: 1 }) },
      ...{ cursor, now },
    });
    if (fire !== null) fires.push({ ...fire, at: now });
    cursor = nextSlot ?? NaN;
    now = Math.max(now, holdUntil ?? cursor);
  }
  return fires;
}

describe('jitter', () => {
  it('fires each slot once, within its bound and before the next slot, in order, and calls none missed', () => {
    fc.assert(
      fc.property(anyJittered, anyId, (schedule, id) => {
        const slots = slotsOf(schedule);
        const jitterMs = schedule.type === 'once' ? 0 : schedule.jitterSec * 1000;
        let expected = slots.next(BASE) ?? NaN;
        for (const { slot, at, isMisfire } of firesOf(schedule, id, 30)) {
          expect([slot, isMisfire, at]).toEqual([expected, false, fireAt(slots, id, slot)]);
          expected = slots.next(slot) ?? NaN;
          expect(at).toBeGreaterThanOrEqual(slot);
          expect(at).toBeLessThanOrEqual(slot + jitterMs);
          expect(at).toBeLessThan(expected);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is the same for the same task and slot, and nothing without jitter_sec', () => {
    const schedule = cronSchedule('0 * * * *', 'UTC', { jitterSec: 600 });
    expect(firesOf(schedule, 'sync', 20)).toEqual(firesOf(schedule, 'sync', 20));
    expect(firesOf(schedule, 'sync', 3)).not.toEqual(firesOf(schedule, 'sink', 3));
    for (const { slot, at } of firesOf(cronSchedule('0 * * * *'), 'sync', 5)) expect(at).toBe(slot);
  });

  it('never changes between releases', () => {
    const slots = slotsOf(cronSchedule('0 * * * *', 'UTC', { jitterSec: 600 }));
    const delays = [1, 2, 3].map(
      (hour) => fireAt(slots, 'sync-orders', BASE + hour * HOUR) - BASE - hour * HOUR,
    );
    expect(delays).toEqual([147_858, 229_329, 246_799]);
  });

  it('spreads the tasks of one slot, and the slots of one task, evenly', () => {
    const slots = slotsOf(cronSchedule('0 * * * *', 'UTC', { jitterSec: 100 }));
    const tenths = (delays: number[]) => {
      const counts = Array<number>(10).fill(0);
      for (const delay of delays) counts[Math.min(9, Math.floor(delay / 10_000))]! += 1;
      return counts;
    };
    const byTask = tenths(
      Array.from({ length: 2000 }, (_, i) => fireAt(slots, `task-${i}`, BASE + HOUR) - BASE - HOUR),
    );
    const bySlot = tenths(
      Array.from({ length: 2000 }, (_, i) => fireAt(slots, 'task', BASE + i * HOUR) - BASE - i * HOUR),
    );
    for (const count of [...byTask, ...bySlot]) {
      expect(count).toBeGreaterThan(140);
      expect(count).toBeLessThan(260);
    }
  });

  it('a slot whose window counts from its jittered instant is missed only after that, and then decided by the policy', () => {
    const schedule = cronSchedule('0 * * * *', 'UTC', { jitterSec: 600 });
    const slots = slotsOf(schedule);
    const slot = BASE + HOUR;
    const at = fireAt(slots, 'task', slot);
    const decide = (now: number) =>
      decideDue({
        taskId: 'task',
        slots,
        policy: policyOf({ misfirePolicy: 'skip', windowSec: 5 }),
        cursor: slot,
        now,
      });
    expect(at).toBeGreaterThan(slot + 5000);
    expect(decide(at - 1)).toEqual({ fire: null, skipped: null, nextSlot: slot, holdUntil: at });
    expect(decide(at + 5000).fire).toEqual({ slot, isMisfire: false });
    const next = slot + HOUR;
    const late = {
      fire: null,
      skipped: { reason: 'misfire', from: slot, to: slot, slots: 1 },
      nextSlot: next,
    };
    expect(decide(at + 5001)).toEqual({ ...late, holdUntil: fireAt(slots, 'task', next) });
    expect(decide(next + 1)).toEqual({ ...late, holdUntil: fireAt(slots, 'task', next) });
  });
});
