import { describe, expect, it } from 'vitest';
import { MAX_INTERVAL_SEC, type Schedule } from '../../../src/domain/schedule.js';
import { createTask } from '../../../src/domain/task.js';
import { cronSchedule, definition, intervalSchedule } from './definition.js';
import { problemsOf } from './problems-of.js';

const NOW = Date.UTC(2026, 0, 5, 12, 0, 0, 250);
const HOUR_MS = 3_600_000;
const refusalsOf = (schedule: Schedule) => problemsOf(() => createTask('t', definition({ schedule }), NOW));

describe('a schedule that cannot fire is refused', () => {
  it.each([0, -1, -0.5, 0.5, 1.5, NaN, Infinity, -Infinity, MAX_INTERVAL_SEC + 1])(
    'interval %d',
    (everySec) => {
      expect(refusalsOf(intervalSchedule(everySec, NOW))).toEqual([
        {
          field: 'interval',
          problem: `${everySec} is not a possible interval`,
          fix: `give whole seconds from 1 to ${MAX_INTERVAL_SEC}`,
        },
      ]);
    },
  );

  it.each([-1, 0.5, NaN, 86_401])('jitter of %d s', (jitterSec) => {
    for (const schedule of [cronSchedule('0 * * * *'), intervalSchedule(60, NOW)])
      expect(refusalsOf({ ...schedule, jitterSec })).toEqual([
        {
          field: 'jitter_sec',
          problem: `${jitterSec} is not possible`,
          fix: 'give whole seconds from 0 to 86400',
        },
      ]);
  });

  it.each([
    ['cron', cronSchedule('0 * * * *')],
    ['interval', intervalSchedule(60, NOW)],
  ])('%s that ends before it starts', (_, schedule) => {
    const bounds = { startAt: NOW + 2 * HOUR_MS, endAt: NOW + HOUR_MS };
    expect(refusalsOf({ ...schedule, ...bounds })).toEqual([
      { field: 'end_at', problem: 'is before start_at', fix: 'give an instant after start_at' },
    ]);
  });

  it.each([
    ['has ended', cronSchedule('0 * * * *', 'UTC', { endAt: NOW - 1 })],
    ['ends before its next slot', cronSchedule('0 * * * *', 'UTC', { endAt: Date.UTC(2026, 0, 5, 13) - 1 })],
    ['ends before its first interval', intervalSchedule(3600, NOW, { endAt: NOW + HOUR_MS - 1 })],
  ])('one that %s', (_, schedule) => {
    expect(refusalsOf(schedule)).toEqual([
      {
        field: 'end_at',
        problem: expect.stringContaining('never_fires') as string,
        fix: expect.stringContaining('next fire time') as string,
      },
    ]);
  });

  it('but not one whose end is its only slot', () => {
    const endAt = Date.UTC(2026, 0, 5, 13);
    const schedule = cronSchedule('0 * * * *', 'UTC', { startAt: endAt, endAt });
    expect(createTask('t', definition({ schedule }), NOW).nextTriggerTime).toBe(endAt);
  });

  it.each([NOW, NOW - 1, 0])('a single run at %d, now or in the past', (runAt) => {
    expect(refusalsOf({ type: 'once', runAt })).toEqual([
      { field: 'run_at', problem: 'is in the past', fix: 'give an instant in the future' },
    ]);
  });

  it.each([NaN, Infinity, -1, 0.5, Date.UTC(10_000, 0), 8.64e15 + 1])('%d is no instant', (instant) => {
    const fieldOf = (schedule: Schedule) => refusalsOf(schedule).map(({ field }) => field);
    expect(fieldOf({ type: 'once', runAt: instant })).toEqual(['run_at']);
    expect(fieldOf(cronSchedule('0 * * * *', 'UTC', { startAt: instant }))).toEqual(['start_at']);
    expect(fieldOf(cronSchedule('0 * * * *', 'UTC', { endAt: instant }))).toEqual(['end_at']);
  });
});
