import { describe, expect, it } from 'vitest';
import { BACKLOG_PACE_MS } from '../../../src/domain/misfire.js';
import { type Policy } from '../../../src/domain/policy.js';
import { type Schedule } from '../../../src/domain/schedule.js';
import { decide, firedUntil } from './deciding.js';
import { cronSchedule, intervalSchedule } from './definition.js';

const BASE = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const everyMinute = cronSchedule('* * * * *');

describe('the trigger window', () => {
  it.each([
    [0, false],
    [5000, false],
    [5001, true],
  ])('%d ms after the slot: misfire %s', (lateMs, isMisfire) => {
    const decision = decide(everyMinute, {}, BASE, BASE + lateMs);
    expect(decision).toEqual({
      fire: { slot: BASE, isMisfire },
      skipped: null,
      nextSlot: BASE + MINUTE_MS,
      holdUntil: null,
    });
  });
});

describe('125 missed minutes', () => {
  const now = BASE + 124 * MINUTE_MS + 30_000;
  const slotsOf = (policy: Partial<Policy>) =>
    firedUntil(everyMinute, policy, BASE, now, now + 3 * MINUTE_MS).map(({ slot, isMisfire }) => [
      (slot - BASE) / MINUTE_MS,
      isMisfire,
    ]);
  const afterwards = [
    [125, false],
    [126, false],
    [127, false],
  ];

  it('skip: none is made up for', () => {
    expect(decide(everyMinute, { misfirePolicy: 'skip' }, BASE, now)).toEqual({
      fire: null,
      skipped: { reason: 'misfire', from: BASE, to: BASE + 124 * MINUTE_MS, slots: 125 },
      nextSlot: BASE + 125 * MINUTE_MS,
      holdUntil: null,
    });
    expect(slotsOf({ misfirePolicy: 'skip' })).toEqual(afterwards);
  });

  it('fire_once: the latest runs', () => {
    expect(decide(everyMinute, { misfirePolicy: 'fire_once' }, BASE, now)).toEqual({
      fire: { slot: BASE + 124 * MINUTE_MS, isMisfire: true },
      skipped: { reason: 'misfire', from: BASE, to: BASE + 123 * MINUTE_MS, slots: 124 },
      nextSlot: BASE + 125 * MINUTE_MS,
      holdUntil: null,
    });
    expect(slotsOf({ misfirePolicy: 'fire_once' })).toEqual([[124, true], ...afterwards]);
  });

  it('catch_up with limit 10: the newest ten run, oldest first, and the range before says how many were dropped', () => {
    const policy = { misfirePolicy: 'catch_up', misfireLimit: 10 } as const;
    expect(decide(everyMinute, policy, BASE, now)).toEqual({
      fire: { slot: BASE + 115 * MINUTE_MS, isMisfire: true },
      skipped: { reason: 'misfire', from: BASE, to: BASE + 114 * MINUTE_MS, slots: 115 },
      nextSlot: BASE + 116 * MINUTE_MS,
      holdUntil: now + BACKLOG_PACE_MS,
    });
    const caughtUp = Array.from({ length: 10 }, (_, i) => [115 + i, true]);
    expect(slotsOf(policy)).toEqual([...caughtUp, ...afterwards]);
  });

  it('catch_up within an age: none older than that runs', () => {
    const policy = { misfirePolicy: 'catch_up', misfireLimit: 10, misfireMaxAgeSec: 150 } as const;
    expect(slotsOf(policy)).toEqual([[122, true], [123, true], [124, true], ...afterwards]);
    expect(slotsOf({ ...policy, misfireMaxAgeSec: 20 })).toEqual(afterwards);
  });

  it.each([0, 2000, 5000])(
    'skip: the slot that is on time since %d ms fires in the same decision',
    (pastMs) => {
      const onTime = BASE + 125 * MINUTE_MS;
      const decision = decide(everyMinute, { misfirePolicy: 'skip' }, BASE, onTime + pastMs);
      expect(decision.fire).toEqual({ slot: onTime, isMisfire: false });
      expect(decision.skipped).toEqual({ reason: 'misfire', from: BASE, to: onTime - MINUTE_MS, slots: 125 });
    },
  );
});

describe('a pause of ten seconds in a task of every second', () => {
  const everySecond = intervalSchedule(1, BASE);

  it.each([100, 500, 900, 999, 1000])(
    '%d ms past a slot: one is made up for, then the old phase goes on',
    (past) => {
      const now = BASE + 10_000 + past;
      const fired = firedUntil(everySecond, { windowSec: 1 }, BASE + 1000, now, now + 5000);
      expect(fired.filter(({ isMisfire }) => isMisfire)).toHaveLength(1);
      expect(fired[0]).toMatchObject({ isMisfire: true, at: now });
      const phases = fired.map(({ slot }) => (slot - BASE) % 1000);
      expect(new Set(phases)).toEqual(new Set([0]));
      const onTime = fired.slice(1).map(({ slot }) => slot);
      expect(onTime).toEqual(onTime.map((_, i) => (onTime[0] ?? NaN) + i * 1000));
      expect(onTime.length).toBeGreaterThanOrEqual(5);
    },
  );
});

describe('a slot that was due when its schedule was edited', () => {
  const edited = cronSchedule('0 13 * * *');
  const now = BASE + 20 * MINUTE_MS;

  it('runs late by fire_once, and by catch_up', () => {
    for (const misfirePolicy of ['fire_once', 'catch_up'] as const) {
      expect(decide(edited, { misfirePolicy }, BASE, now)).toEqual({
        fire: { slot: BASE, isMisfire: true },
        skipped: null,
        nextSlot: BASE + 60 * MINUTE_MS,
        holdUntil: null,
      });
    }
  });

  it('is the oldest of those that catch_up makes up for', () => {
    const policy = { misfirePolicy: 'catch_up' } as const;
    const fired = firedUntil(edited, policy, BASE, BASE + 90 * MINUTE_MS, BASE + 91 * MINUTE_MS);
    expect(fired.map(({ slot }) => slot)).toEqual([BASE, BASE + 60 * MINUTE_MS]);
  });
});

describe('the end of a schedule', () => {
  it('fires the last slot and leaves no next', () => {
    const last = cronSchedule('* * * * *', 'UTC', { endAt: BASE });
    expect(decide(last, {}, BASE, BASE + 1)).toEqual({
      fire: { slot: BASE, isMisfire: false },
      skipped: null,
      nextSlot: null,
      holdUntil: null,
    });
  });

  it('a missed single run follows the policy too', () => {
    const once: Schedule = { type: 'once', runAt: BASE };
    const ended = { nextSlot: null, holdUntil: null };
    const late = { fire: { slot: BASE, isMisfire: true }, skipped: null, ...ended };
    const range = { reason: 'misfire', from: BASE, to: BASE, slots: 1 };
    expect(decide(once, {}, BASE, BASE + 60_000)).toEqual(late);
    expect(decide(once, { misfirePolicy: 'catch_up' }, BASE, BASE + 60_000)).toEqual(late);
    expect(decide(once, { misfirePolicy: 'skip' }, BASE, BASE + 60_000)).toEqual({
      fire: null,
      skipped: range,
      ...ended,
    });
  });
});
