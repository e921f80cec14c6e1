import { describe, expect, it } from 'vitest';
import { type MisfirePolicy } from '../../../src/domain/policy.js';
import { COUNT_BUDGET, COUNT_LIMIT, FireTimes, type Schedule } from '../../../src/domain/schedule.js';
import { decide, firedUntil } from './deciding.js';
import { cronSchedule, intervalSchedule } from './definition.js';

const BASE = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const everyMinute = cronSchedule('* * * * *');

/** Counts what is asked, so that bounds of work can be told without a clock. */
class CountedFireTimes extends FireTimes {
  asked = 0;

  override next(schedule: Schedule, after: number): number | null {
    this.asked++;
    return super.next(schedule, after);
  }

  override previous(schedule: Schedule, instant: number): number | null {
    this.asked++;
    return super.previous(schedule, instant);
  }
}

describe('fifty years of missed slots', () => {
  const from = Date.UTC(1970, 0, 1, 0, 0, 10);
  const now = Date.UTC(2026, 0, 5, 12, 0, 2);
  const policies: readonly MisfirePolicy[] = ['skip', 'fire_once', 'catch_up'];

  it.each(policies)('of 5 s, %s: decided at once, the next is near', (misfirePolicy) => {
    const schedule = intervalSchedule(5, from - 5000);
    const times = new CountedFireTimes();
    const decision = decide(schedule, { misfirePolicy, windowSec: 1 }, from, now, times);
    expect(times.asked).toBeLessThan(30);
    expect(decision.skipped?.from).toBe(from);
    const { skipped, fire } = decision;
    const isAll = misfirePolicy === 'skip';
    expect(skipped?.slots).toBe(((skipped?.to ?? NaN) - from) / 5000 + 1);
    expect(fire === null).toBe(isAll);
    const fired = firedUntil(schedule, { misfirePolicy, windowSec: 1 }, from, now, now + 5000);
    expect(fired.filter(({ isMisfire }) => isMisfire)).toHaveLength(
      { skip: 0, fire_once: 1, catch_up: 10 }[misfirePolicy],
    );
    expect(fired.at(-1)?.slot).toBeGreaterThan(now);
  });

  it.each(policies)('of every second by cron, %s: counted only so far', (misfirePolicy) => {
    const times = new CountedFireTimes();
    const decision = decide(cronSchedule('* * * * * *'), { misfirePolicy }, from, now, times);
    expect(times.asked).toBeLessThan(COUNT_LIMIT + 30);
    expect(decision.skipped).toMatchObject({ from, slots: null });
    expect(decision.nextSlot).toBeGreaterThan(now - 10 * 60_000);
  });

  it('the largest catch_up asks no more than its limit and the count', () => {
    const times = new CountedFireTimes();
    const policy = { misfirePolicy: 'catch_up', misfireLimit: 1000 } as const;
    const decision = decide(cronSchedule('* * * * * *'), policy, from, now, times);
    expect(times.asked).toBeLessThan(1000 + COUNT_LIMIT + 30);
    expect(decision.fire).toEqual({ slot: now - 6000 - 999 * 1000, isMisfire: true });
  });
});

describe('the count of a skipped range', () => {
  it('is bounded for a batch too: 60 tasks that missed two days of minutes each', () => {
    const times = new CountedFireTimes();
    for (let second = 0; second < 60; second++) {
      decide(cronSchedule(`${second} * * * * *`), {}, BASE + second * 1000, BASE + 2880 * MINUTE_MS, times);
    }
    expect(times.asked).toBeLessThan(COUNT_BUDGET + 60 * 10);
  });

  it.each([
    [COUNT_LIMIT, COUNT_LIMIT],
    [COUNT_LIMIT + 1, null],
  ])('%d cron slots are told as %s', (missed, slots) => {
    const now = BASE + (missed - 1) * MINUTE_MS + 30_000;
    const decision = decide(everyMinute, { misfirePolicy: 'skip' }, BASE, now);
    expect(decision.skipped).toEqual({
      reason: 'misfire',
      from: BASE,
      to: BASE + (missed - 1) * MINUTE_MS,
      slots,
    });
  });

  it('holds the slot before an edit and the slots of the new schedule from its start on', () => {
    const startAt = BASE + 30 * MINUTE_MS;
    const edited = intervalSchedule(600, startAt, { startAt });
    const decision = decide(edited, { misfirePolicy: 'skip' }, BASE, BASE + 55 * MINUTE_MS);
    expect(decision.skipped).toEqual({ reason: 'misfire', from: BASE, to: BASE + 50 * MINUTE_MS, slots: 4 });
  });
});
