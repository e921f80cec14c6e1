import { beforeEach, describe, expect, it } from 'vitest';
import { SETTLE_MS } from '../../../src/domain/check-history.js';
import { type Findings, MAX_LISTED } from '../../../src/domain/findings.js';
import { BASE } from '../../support/builders.js';
import { buildUse } from '../../support/calendars.js';
import { cronSchedule, intervalSchedule, policyOf } from './definition.js';
import { recorded, TaskScene } from './history-scene.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const everyMinute = intervalSchedule(60, BASE);

describe('TaskCheck', () => {
  let scene: TaskScene;
  beforeEach(() => {
    scene = new TaskScene().create({ schedule: everyMinute });
  });

  const found = (findings: Findings) => findings.violations.map(({ rule, slot }) => [rule, slot]);
  const doubted = (findings: Findings) => findings.unknown.map(({ from, to, reason }) => [from, to, reason]);
  const drop = (...slots: number[]) => {
    scene.events = scene.events.filter(({ slot }) => !slots.includes(slot));
  };
  const alter = (slot: number, change: Partial<(typeof scene.events)[number]>) => {
    scene.events = scene.events.map((event) => (event.slot === slot ? { ...event, ...change } : event));
  };

  it('finds nothing in a history as it should be', () => {
    const result = scene.runUntil(BASE + HOUR).check();
    expect([found(result), doubted(result)]).toEqual([[], []]);
    expect([result.slots, result.events, result.isTruncated]).toEqual([60, 60, false]);
  });

  it('finds nothing before a task was created, while it was disabled, and after it was deleted', () => {
    scene = new TaskScene().sleepUntil(BASE + 10 * MINUTE);
    scene.create({ schedule: everyMinute }).runUntil(BASE + 20 * MINUTE);
    scene.edit({ isEnabled: false }).sleepUntil(BASE + 30 * MINUTE);
    scene.edit({ isEnabled: true }).runUntil(BASE + 40 * MINUTE);
    const result = scene
      .delete()
      .sleepUntil(BASE + HOUR)
      .check();
    expect([found(result), doubted(result), result.slots]).toEqual([[], [], 20]);
  });

  describe('with a calendar', () => {
    /** Of every hour the minutes 10 to 19 are left out, for one hour. */
    const schedule = cronSchedule('* * * * *', 'UTC', {
      calendar: buildUse({ weekend: [], excludedTimes: [{ from: '00:10:00', to: '00:20:00' }] }),
    });
    const minute = (n: number) => BASE + n * MINUTE;
    beforeEach(() => {
      scene = new TaskScene().create({ schedule }).runUntil(BASE + 30 * MINUTE);
    });

    it('finds nothing where excluded slots have their verdict, in time or late', () => {
      expect(found(scene.check())).toEqual([]);
      scene.sleepUntil(BASE + 2 * HOUR).runUntil(BASE + 3 * HOUR);
      scene.edit({ schedule: { ...schedule, calendar: null } }).runUntil(BASE + 4 * HOUR);
      expect(found(scene.check())).toEqual([]);
    });

    it('a range after an outage is clean, too', () => {
      scene = new TaskScene()
        .create({ schedule })
        .sleepUntil(BASE + HOUR)
        .runUntil(BASE + 2 * HOUR);
      expect(scene.events.map(({ reason, rangeEnd }) => [reason, rangeEnd]).slice(0, 3)).toEqual([
        ['misfire', minute(9)],
        ['calendar', minute(19)],
        ['misfire', minute(58)],
      ]);
      expect(found(scene.check())).toEqual([]);
    });

    it('a run of an excluded slot', () => {
      alter(minute(12), { status: 'success', reason: null });
      expect(found(scene.check())).toEqual([['unexpected', minute(12)]]);
    });

    it('an excluded slot without a verdict, or with another one', () => {
      drop(minute(13));
      alter(minute(14), { reason: 'overlap' });
      expect(found(scene.check())).toEqual([
        ['missing', minute(13)],
        ['missing', minute(14)],
      ]);
    });

    it('a verdict of the calendar over a slot that it does not exclude', () => {
      alter(minute(25), { status: 'skipped', reason: 'calendar' });
      expect(found(scene.check())).toEqual([['missing', minute(25)]]);
      drop(minute(20), minute(21));
      alter(minute(19), { rangeEnd: minute(21) });
      expect(found(scene.check())).toEqual([
        ['missing', minute(20)],
        ['missing', minute(21)],
        ['missing', minute(25)],
      ]);
    });

    it('a range of missed slots over excluded ones', () => {
      for (let n = 10; n < 20; n++) drop(minute(n));
      alter(minute(9), {
        rangeEnd: minute(19),
        status: 'skipped',
        reason: 'misfire',
        isMisfire: true,
        firedAt: minute(29),
      });
      expect(scene.check().countOf('missing')).toBe(10);
    });
  });

  describe('missing', () => {
    it('a slot without an event', () => {
      scene.runUntil(BASE + HOUR);
      drop(BASE + 7 * MINUTE, BASE + HOUR);
      expect(found(scene.check())).toEqual([
        ['missing', BASE + 7 * MINUTE],
        ['missing', BASE + HOUR],
      ]);
    });

    it('slots that a new leader passed over by starting from now', () => {
      scene.runUntil(BASE + 10 * MINUTE).sleepUntil(BASE + 13 * MINUTE);
      scene.tamper({ nextTriggerTime: BASE + 14 * MINUTE }).runUntil(BASE + 20 * MINUTE);
      expect(found(scene.check()).map(([, slot]) => slot)).toEqual(
        [11, 12, 13].map((n) => BASE + n * MINUTE),
      );
    });

    it('slots that are overdue, and says where the cursor stands', () => {
      const { violations } = scene
        .runUntil(BASE + 10 * MINUTE)
        .sleepUntil(BASE + 12 * MINUTE)
        .check();
      expect(violations).toHaveLength(2);
      expect(violations[0]?.detail).toContain('next_trigger_time stands at 2026-01-05T00:11:00.000Z');
    });

    it('slots of an old definition too', () => {
      scene.runUntil(BASE + 10 * MINUTE).edit({ schedule: cronSchedule('*/5 * * * *') });
      scene.runUntil(BASE + HOUR);
      drop(BASE + 9 * MINUTE, BASE + 15 * MINUTE);
      expect(found(scene.check()).map(([, slot]) => slot)).toEqual([BASE + 9 * MINUTE, BASE + 15 * MINUTE]);
    });

    it('a skipped range whose verdict was not recorded', () => {
      scene.edit({ policy: policyOf({ misfirePolicy: 'skip' }) });
      scene.sleepUntil(BASE + 10 * MINUTE).runUntil(BASE + 11 * MINUTE);
      expect(found(scene.check())).toEqual([]);
      alter(BASE + MINUTE, { status: 'pending' });
      expect(found(scene.check({ now: scene.now + SETTLE_MS }))).toContainEqual(['missing', BASE + MINUTE]);
    });

    it('no slot whose window has just passed or is open', () => {
      scene.runUntil(BASE + 10 * MINUTE);
      drop(BASE + 10 * MINUTE);
      expect(found(scene.check({ now: BASE + 10 * MINUTE + 5000 + SETTLE_MS - 1 }))).toEqual([]);
      expect(found(scene.check({ now: BASE + 10 * MINUTE + 5000 + SETTLE_MS }))).toHaveLength(1);
    });
  });

  describe('duplicate', () => {
    it('two events of one slot', () => {
      scene.runUntil(BASE + HOUR);
      scene.events.push(recorded(BASE + 7 * MINUTE));
      expect(found(scene.check())).toEqual([['duplicate', BASE + 7 * MINUTE]]);
    });

    it('an event within a skipped range, also one that begins before the time looked at', () => {
      scene.sleepUntil(BASE + 10 * MINUTE).runUntil(BASE + HOUR);
      scene.events.push(recorded(BASE + 7 * MINUTE));
      expect(found(scene.check())).toEqual([['duplicate', BASE + 7 * MINUTE]]);
      expect(found(scene.check({ from: BASE + 5 * MINUTE }))).toEqual([['duplicate', BASE + 7 * MINUTE]]);
    });
  });

  describe('outside_window', () => {
    beforeEach(() => void scene.runUntil(BASE + HOUR));
    const slot = BASE + 7 * MINUTE;

    it.each([
      ['before its slot', { firedAt: slot - 1 }],
      ['late and not recorded as a misfire', { firedAt: slot + 5001 }],
      ['within its window and recorded as a misfire', { isMisfire: true }],
      [
        'as a range that reaches where windows were open',
        { isMisfire: true, status: 'skipped', firedAt: slot + 9000, rangeEnd: slot + MINUTE },
      ],
    ] as const)('fired %s', (_, change) => {
      if ('rangeEnd' in change) drop(slot + MINUTE);
      alter(slot, change);
      expect(found(scene.check())).toEqual([['outside_window', slot]]);
    });

    it('nothing at the ends of its window', () => {
      alter(slot, { firedAt: slot });
      alter(slot + MINUTE, { firedAt: slot + MINUTE + 5000 });
      expect(found(scene.check())).toEqual([]);
    });
  });

  describe('unexpected', () => {
    it('an event that no definition expected, and why', () => {
      scene
        .runUntil(BASE + 10 * MINUTE)
        .edit({ isEnabled: false })
        .sleepUntil(BASE + 20 * MINUTE);
      scene
        .edit({ isEnabled: true })
        .runUntil(BASE + 30 * MINUTE)
        .delete()
        .sleepUntil(BASE + HOUR);
      const slots = [BASE + 5 * MINUTE + 500, BASE + 15 * MINUTE, BASE + 40 * MINUTE];
      scene.events.push(...slots.map((slot) => recorded(slot)));
      const { violations } = scene.check();
      expect(violations.map(({ rule, slot, detail }) => [rule, slot, detail])).toEqual([
        ['unexpected', slots[0], 'it is no slot of the schedule in force then'],
        ['unexpected', slots[1], 'the task was disabled then'],
        ['unexpected', slots[2], 'there was no such task then'],
      ]);
    });

    it('nothing of a slot that was due when the schedule was edited', () => {
      scene.runUntil(BASE + 10 * MINUTE).sleepUntil(BASE + 11 * MINUTE + 10);
      scene.edit({ schedule: cronSchedule('30 * * * *') }).runUntil(BASE + HOUR);
      expect(scene.events.at(-2)?.slot).toBe(BASE + 11 * MINUTE);
      expect([found(scene.check()), doubted(scene.check())]).toEqual([[], []]);
    });

    it('no run by hand', () => {
      scene.runUntil(BASE + HOUR);
      scene.events.push(recorded(BASE + 7 * MINUTE + 123, { kind: 'manual' }));
      const result = scene.check();
      expect([found(result), result.events]).toEqual([[], 61]);
    });
  });

  describe('double_run', () => {
    const slot = BASE + MINUTE;
    const claim = (generation: number, node = 'worker-1') =>
      ({ kind: 'claimed', generation, node, at: slot, attempt: null }) as const;
    const takeOver = (generation: number, node: string) =>
      ({ kind: 'reclaimed', generation, node, at: slot, attempt: null }) as const;
    const step = (
      kind: 'attempt_started' | 'finished' | 'handed_back',
      generation: number,
      attempt: number,
      node = 'worker-1',
    ) => ({ kind, generation, node, at: slot, attempt });
    const again = {
      kind: 'republished',
      generation: 0,
      node: 'coordinator-1',
      at: slot,
      attempt: null,
    } as const;
    const result = (steps: (typeof scene.events)[number]['steps'], isIdempotent: boolean) => {
      scene = new TaskScene().create({ schedule: everyMinute, policy: policyOf({ isIdempotent }) });
      scene.runUntil(slot);
      alter(slot, { steps });
      return found(scene.check());
    };
    const once = false;
    const idempotent = true;

    it.each([
      ['two claims of a task that runs at most once', [claim(1), claim(2)], once],
      ['a second attempt of it', [claim(1), step('attempt_started', 1, 2), step('finished', 1, 1)], once],
      ['an end under two claims', [claim(1), step('finished', 1, 1), claim(2), step('finished', 2, 1)], once],
      [
        'the same of an idempotent task',
        [claim(1), step('finished', 1, 1), claim(2), step('finished', 2, 1)],
        idempotent,
      ],
      [
        'a run of it after the queue lost the first',
        [claim(1), again, claim(2), step('finished', 2, 1)],
        once,
      ],
      [
        'a claim that the queue forgot',
        [claim(1), claim(1, 'worker-2'), step('finished', 1, 1, 'worker-2')],
        once,
      ],
      [
        'the same of an idempotent task that did not say so',
        [claim(1), step('finished', 1, 1), claim(1, 'worker-2'), step('finished', 1, 1, 'worker-2')],
        idempotent,
      ],
    ])('%s', (_, steps, isIdempotent) => {
      expect(result(steps, isIdempotent)).toEqual([['double_run', slot]]);
    });

    it.each([
      ['one run', [claim(1), step('finished', 1, 1)], once],
      [
        'a hand-back before it began',
        [claim(1), step('handed_back', 1, 0), claim(2), step('finished', 2, 1)],
        once,
      ],
      ['a run that was lost and not run again', [claim(1), step('finished', 2, 0)], once],
      ['retries', [claim(1), step('attempt_started', 1, 2), step('finished', 1, 2)], idempotent],
      [
        'a reclaimed run',
        [claim(1), claim(2), step('attempt_started', 2, 2), step('finished', 2, 2)],
        idempotent,
      ],
      [
        'numbers that began again',
        [claim(1), step('finished', 1, 1), again, claim(2), step('finished', 2, 1)],
        idempotent,
      ],
      [
        'a forgotten claim that was not run again',
        [claim(1), claim(1, 'worker-2'), step('finished', 1, 0, 'worker-2')],
        once,
      ],
      [
        'a run that took over from a forgotten claim',
        [
          claim(1),
          step('finished', 1, 1),
          claim(1, 'worker-2'),
          takeOver(1, 'worker-2'),
          step('finished', 1, 1, 'worker-2'),
        ],
        idempotent,
      ],
    ])('not %s', (_, steps, isIdempotent) => {
      expect(result(steps, isIdempotent)).toEqual([]);
    });
  });

  describe('overdue', () => {
    const slot = BASE + MINUTE;
    const policy = policyOf({ timeoutSec: 30, retryCount: 2, retryIntervalSec: 60, isIdempotent: true });
    beforeEach(() => {
      scene = new TaskScene().create({ schedule: everyMinute, policy }).runUntil(slot);
    });

    it.each(['handed_back', 'precheck_failed'] as const)(
      'pending for ten minutes, from its last %s on',
      (kind) => {
        alter(slot, { status: 'pending', firedAt: slot, startedAt: null, steps: [] });
        expect(found(scene.check({ now: slot + 600_000 }))).toEqual([]);
        expect(found(scene.check({ now: slot + 600_001 }))).toEqual([['overdue_pending', slot]]);
        alter(slot, {
          steps: [{ kind, generation: 1, node: 'worker-1', at: slot + 500_000, attempt: 0 }],
        });
        expect(found(scene.check({ now: slot + 1_100_000 }))).toEqual([]);
        expect(found(scene.check({ now: slot + 1_100_001 }))).toEqual([['overdue_pending', slot]]);
      },
    );

    it('pending, but not while it waits for others of its task to end', () => {
      const step = (kind: 'waiting' | 'handed_back', at: number) =>
        ({ kind, generation: 0, node: 'worker-1', at, attempt: null }) as const;
      const far = slot + 100 * 86_400_000;
      alter(slot, { status: 'pending', firedAt: slot, startedAt: null, steps: [step('waiting', slot + 5)] });
      expect(found(scene.check({ to: slot, now: far }))).toEqual([]);
      alter(slot, { steps: [step('waiting', slot + 5), step('handed_back', slot + 6)] });
      expect(found(scene.check({ to: slot, now: far }))).toEqual([['overdue_pending', slot]]);
    });

    it.each(['running', 'retrying'] as const)('%s longer than all attempts and delays take', (status) => {
      alter(slot, { status, startedAt: slot + 5 });
      const bound = slot + 5 + 3 * 30_000 + 2 * 60_000 + 300_000;
      expect(found(scene.check({ now: bound }))).toEqual([]);
      expect(found(scene.check({ now: bound + 1 }))).toEqual([['overdue_running', slot]]);
      scene.sleepUntil(slot + 10).edit({ policy: { ...policy, timeoutSec: 3600 } });
      expect(found(scene.check({ to: slot, now: bound + 1 }))).toEqual([]);
    });
  });

  describe('cannot tell', () => {
    it('what was expected when the task was changed by hand, and finds no fault with it', () => {
      scene.runUntil(BASE + 10 * MINUTE).tamper({ schedule: intervalSchedule(120, BASE) });
      scene.runUntil(BASE + 20 * MINUTE);
      const result = scene.check();
      expect(found(result)).toEqual([]);
      expect(doubted(result)).toEqual([
        [BASE, BASE + 20 * MINUTE, 'the task was changed without an entry in the audit log'],
      ]);
    });

    it('judges again after an edit through ax', () => {
      scene.runUntil(BASE + 10 * MINUTE).tamper({ schedule: intervalSchedule(120, BASE) });
      scene.edit({ schedule: everyMinute }).runUntil(BASE + 20 * MINUTE);
      drop(BASE + 5 * MINUTE, BASE + 15 * MINUTE);
      const result = scene.check();
      expect(found(result)).toEqual([['missing', BASE + 15 * MINUTE]]);
      expect(doubted(result).map(([from, to]) => [from, to])).toEqual([[BASE, BASE + 10 * MINUTE - 1]]);
    });

    it('what was before the oldest change on record', () => {
      scene
        .runUntil(BASE + 10 * MINUTE)
        .edit({ name: 'Renamed' })
        .runUntil(BASE + 20 * MINUTE);
      scene.changes.length = 0;
      drop(BASE + 5 * MINUTE, BASE + 15 * MINUTE);
      const result = scene.check();
      expect(found(result)).toEqual([['missing', BASE + 15 * MINUTE]]);
      expect(doubted(result).map(([from, to]) => [from, to])).toEqual([[BASE, BASE + 10 * MINUTE - 1]]);
    });

    it('but knows a task that was never changed without any log', () => {
      scene.runUntil(BASE + 20 * MINUTE);
      scene.changes.length = 0;
      const result = scene.check({ from: BASE - HOUR });
      expect([found(result), doubted(result), result.slots]).toEqual([[], [], 20]);
    });

    it('whether slots should have run that were undecided when the task was disabled', () => {
      scene
        .runUntil(BASE + 10 * MINUTE)
        .sleepUntil(BASE + 15 * MINUTE)
        .edit({ isEnabled: false });
      const result = scene.sleepUntil(BASE + HOUR).check();
      expect(found(result)).toEqual([]);
      expect(doubted(result)).toEqual([
        [BASE + 11 * MINUTE, BASE + 14 * MINUTE, 'undecided when the task was disabled or deleted'],
      ]);
    });

    it('when slots that are caught up will have their turn', () => {
      scene.edit({ policy: policyOf({ misfirePolicy: 'catch_up' }) });
      const result = scene.sleepUntil(BASE + 3 * MINUTE).check();
      expect(found(result)).toEqual([]);
      expect(doubted(result)).toMatchObject([
        [BASE + MINUTE, BASE + 3 * MINUTE, expect.stringContaining('caught up')],
      ]);
    });
  });

  it('lists so many violations and counts the others', () => {
    scene = new TaskScene().create({ schedule: intervalSchedule(1, BASE) }).sleepUntil(BASE + 2_000_000);
    const result = scene.check();
    expect([result.violations.length, result.violationCount, result.isTruncated]).toEqual([
      MAX_LISTED,
      2000,
      true,
    ]);
    expect(
      result.violations.every(({ taskId, executionId }) => taskId === 'task' && executionId === null),
    ).toBe(true);
  });
});
