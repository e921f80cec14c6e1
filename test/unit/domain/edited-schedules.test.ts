import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CronSchedule,
  FireTimes,
  type IntervalSchedule,
  type Schedule,
} from '../../../src/domain/schedule.js';
import { TaskSlots } from '../../../src/domain/timetable.js';
import { BASE } from '../../support/builders.js';
import { cronSchedule, intervalSchedule, policyOf } from './definition.js';
import { TaskScene } from './history-scene.js';

const MINUTE = 60_000;
const SETTLE = 3_600_000;

/** Slots in `(after, until]` by plain arithmetic; every schedule here is an interval from BASE or every so many minutes in UTC. */
function slotsBetween(schedule: Schedule, after: number, until: number): number[] {
  const everyMs = schedule.type === 'interval' ? schedule.everySec * 1000 : minutesOf(schedule) * MINUTE;
  const first = BASE + (Math.floor((after - BASE) / everyMs) + 1) * everyMs;
  return Array.from(
    { length: Math.max(0, Math.floor((until - first) / everyMs) + 1) },
    (_, i) => first + i * everyMs,
  );
}

const minutesOf = (schedule: Schedule): number =>
  schedule.type === 'cron' ? Number(/^\*\/(\d+) /.exec(schedule.expr)?.[1]) : NaN;

const anyPunctual: fc.Arbitrary<CronSchedule | IntervalSchedule> = fc.oneof(
  fc.constantFrom(7, 10, 60, 90, 300).map((everySec) => intervalSchedule(everySec, BASE)),
  fc.constantFrom(1, 2, 5, 20).map((minutes) => cronSchedule(`*/${minutes} * * * *`)),
);

const anySchedule: fc.Arbitrary<Schedule> = fc
  .tuple(anyPunctual, fc.constantFrom(0, 0, 5, 60))
  .map(([schedule, jitterSec]) => ({ ...schedule, jitterSec }));

const anyEdit = fc.record({
  schedule: anySchedule,
  waitMs: fc.oneof(fc.nat(3000), fc.nat(600_000)),
  isOutage: fc.boolean(),
});

describe('a task whose schedule is edited, also while slots wait', () => {
  it('decides each old slot up to the edit and each new one after it, once', () => {
    const misfirePolicy = fc.constantFrom('skip' as const, 'fire_once' as const, 'catch_up' as const);
    fc.assert(
      fc.property(anySchedule, misfirePolicy, fc.array(anyEdit, { maxLength: 8 }), (first, policy, edits) => {
        const scene = new TaskScene().create({
          schedule: first,
          policy: policyOf({ misfirePolicy: policy }),
        });
        const expected: number[] = [];
        let [schedule, since] = [first, BASE];
        const reign = (until: number) => expected.push(...slotsBetween(schedule, since, until));
        for (const edit of edits) {
          const at = scene.now + edit.waitMs;
          if (edit.isOutage) scene.sleepUntil(at);
          else scene.runUntil(at);
          scene.edit({ schedule: edit.schedule });
          reign(at);
          [schedule, since] = [edit.schedule, at];
        }
        const end = scene.now + SETTLE;
        scene.runUntil(end + 2 * MINUTE); // Past the longest jitter.
        reign(end);
        const decided = scene.events.flatMap(({ slot, rangeEnd }) =>
          expected.filter((one) => one >= slot && one <= (rangeEnd ?? slot)),
        );
        expect(decided.toSorted((a, b) => a - b)).toEqual([...new Set(expected)].toSorted((a, b) => a - b));
        const ends = scene.events.flatMap(({ slot, rangeEnd }) => [slot, rangeEnd ?? slot]);
        expect(ends.filter((slot) => slot <= end && !expected.includes(slot))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('makes up for the newest slot of the old schedule before the edit, not for one of the new', () => {
    const scene = new TaskScene().create({ schedule: intervalSchedule(600, BASE) });
    scene.sleepUntil(BASE + 25 * MINUTE).edit({ schedule: intervalSchedule(60, BASE) });
    scene.sleepUntil(BASE + 25.5 * MINUTE).runUntil(BASE + 27 * MINUTE);
    expect(scene.events.map(({ slot, isMisfire }) => [(slot - BASE) / MINUTE, isMisfire])).toEqual([
      [10, true],
      [20, true],
      [26, false],
      [27, false],
    ]);
  });
});

describe('the slots of a timetable', () => {
  const timetable = {
    former: [
      { schedule: intervalSchedule(600, BASE), until: BASE + 25 * MINUTE },
      { schedule: intervalSchedule(420, BASE), until: BASE + 30 * MINUTE },
    ],
    schedule: intervalSchedule(900, BASE),
  };
  const slots = new TaskSlots(timetable, new FireTimes());
  const all = [10, 20, 28, 45, 60].map((minute) => BASE + minute * MINUTE);

  it('are the same forwards and backwards', () => {
    const forwards = [slots.next(BASE)];
    while (forwards.length < all.length) forwards.push(slots.next(forwards.at(-1) ?? NaN));
    expect(forwards).toEqual(all);
    const backwards = [slots.previous(BASE + 60 * MINUTE)];
    while (backwards.length < all.length) backwards.push(slots.previous((backwards.at(-1) ?? NaN) - 1));
    expect(backwards.toReversed()).toEqual(all);
    expect(slots.previous(BASE + 10 * MINUTE - 1)).toBeNull();
  });

  it('are counted across edits', () => {
    for (const [i, from] of all.entries())
      for (const [j, to] of all.entries()) if (i <= j) expect(slots.count(from, to)).toBe(j - i + 1);
  });
});
