import { describe, expect, it } from 'vitest';
import { Forecast, type ForecastTask } from '../../../../src/domain/forecast/forecast.js';
import { fireAt } from '../../../../src/domain/jitter.js';
import { FireTimes } from '../../../../src/domain/schedule.js';
import { createTask } from '../../../../src/domain/task.js';
import { TaskSlots } from '../../../../src/domain/timetable.js';
import { cronSchedule, definition, intervalSchedule } from '../definition.js';

const MINUTE = 60_000;
const BEGIN = Date.UTC(2026, 0, 5);
const TWO = BEGIN + 120 * MINUTE;

const task = (id: string, overrides: Partial<ForecastTask> = {}): ForecastTask => ({
  id,
  name: id,
  group: 'default',
  target: 'http:orders',
  schedule: cronSchedule('0 2 * * *'),
  maxConcurrent: 1,
  durationMs: 10_000,
  isAssumed: false,
  ...overrides,
});

function forecastOf(tasks: readonly ForecastTask[], minutes = 1440): Forecast {
  const forecast = new Forecast({ begin: BEGIN, minutes }, tasks);
  expect([...forecast.compute()].length).toBeGreaterThanOrEqual(tasks.length);
  return forecast;
}

const runningAt = (forecast: Forecast, at: number) => forecast.total.runningIn((at - BEGIN) / MINUTE);

describe('Forecast', () => {
  it('finds three tasks that collide at 02:00 and moves two of them to free minutes', () => {
    const tasks = [
      task('a', { durationMs: 90_000 }),
      task('b'),
      task('c', { schedule: cronSchedule('0 2 * * 1') }),
      task('d', { schedule: cronSchedule('1 2 * * *') }),
    ];
    const { collisions, total } = forecastOf(tasks);
    expect(total.peak).toEqual({ at: TWO, starts: 3, running: 3 });
    expect(collisions).toHaveLength(1);
    expect(collisions[0]).toMatchObject({ at: TWO, times: 1, starts: 3, running: 3, taskCount: 3 });
    expect(collisions[0]?.tasks.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    // 02:01 is taken by d, 01:59 is another hour; b takes 02:02, so that c goes on to 02:03.
    expect(collisions[0]?.suggestions).toEqual([
      { taskId: 'b', fields: { cron_expr: '2 2 * * *' }, movesTo: TWO + 2 * MINUTE, startsThere: 0 },
      { taskId: 'c', fields: { cron_expr: '3 2 * * 1' }, movesTo: TWO + 3 * MINUTE, startsThere: 0 },
    ]);
  });

  it('follows a suggestion to a forecast without the collision, in fields that a task takes', () => {
    const schedules = [
      cronSchedule('0 2 * * *'),
      cronSchedule('@daily'),
      cronSchedule('0,30 * * * *'),
      cronSchedule('*/15 * * * *'),
      cronSchedule('0 0 2 ? * *', 'UTC', { dialect: 'quartz' }),
    ];
    for (const schedule of schedules) {
      const tasks = [task('a', { schedule, durationMs: 20_000 }), task('b', { schedule })];
      const fields = forecastOf(tasks).collisions[0]?.suggestions[0]?.fields;
      const moved = { ...schedule, expr: String(fields?.['cron_expr']) };
      expect(createTask('b', definition({ schedule: moved }), BEGIN)).toMatchObject({ schedule: moved });
      const after = forecastOf([tasks[0] as ForecastTask, task('b', { schedule: moved })]);
      expect({ schedule, collisions: after.collisions }).toEqual({ schedule, collisions: [] });
      expect(after.total.startsTotal).toBe(forecastOf(tasks).total.startsTotal);
    }
  });

  it('lets jitter move each start as it will when it fires', () => {
    const schedule = { ...cronSchedule('0 * * * *'), jitterSec: 900 };
    const tasks = Array.from({ length: 20 }, (_, i) => task(`t${i}`, { schedule, durationMs: 1 }));
    const { total, collisions } = forecastOf(tasks, 180);
    expect(total.startsTotal).toBeGreaterThanOrEqual(60 - 20);
    const times = new FireTimes();
    for (let hour = 0; hour < 3; hour++) {
      const counts = new Map<number, number>();
      for (const { id } of tasks) {
        const at = fireAt(new TaskSlots({ schedule, former: [] }, times), id, BEGIN + hour * 60 * MINUTE);
        const minute = Math.floor((at - BEGIN) / MINUTE);
        counts.set(minute, (counts.get(minute) ?? 0) + 1);
      }
      for (const [minute, count] of counts) expect(total.startsIn(minute)).toBe(count);
    }
    for (const { taskCount, tasks: listed } of collisions) expect(listed).toHaveLength(taskCount);
  });

  it('moves the phase of an interval and the instant of a single run', () => {
    const tasks = [
      task('a', { durationMs: 20_000 }),
      task('b', { schedule: intervalSchedule(7200, BEGIN) }),
      task('c', { schedule: { type: 'once', runAt: TWO } }),
    ];
    const fields = forecastOf(tasks).collisions[0]?.suggestions.map((suggestion) => suggestion.fields);
    expect(fields).toEqual([
      { start_at: '2026-01-05T02:01:00.000Z' },
      { run_at: '2026-01-05T02:02:00.000Z' },
    ]);
  });

  it('suggests jitter where no minute near by is better', () => {
    const everywhere = Array.from({ length: 60 }, (_, i) => [
      task(`x${i}`, { schedule: cronSchedule(`${i} * * * *`), durationMs: 60_000 }),
      task(`y${i}`, { schedule: cronSchedule(`${i} * * * *`) }),
    ]).flat();
    const { collisions } = forecastOf(everywhere, 60);
    expect(collisions).toHaveLength(10);
    const first = collisions[0]?.suggestions[0];
    expect(first).toMatchObject({ movesTo: null, startsThere: null, fields: { jitter_sec: 60 } });
  });

  it('counts minutes with the same tasks as one collision', () => {
    const tasks = ['a', 'b'].map((id) => task(id, { schedule: cronSchedule('0 * * * *') }));
    expect(forecastOf(tasks).collisions).toMatchObject([{ at: BEGIN, times: 24, taskCount: 2 }]);
  });

  it('has runs in progress for as long as they take, from before the range, too', () => {
    const forecast = forecastOf([
      task('a', { schedule: cronSchedule('59 23,1 * * *'), durationMs: 150_000 }),
    ]);
    expect([0, 1, 2].map((minute) => forecast.total.runningIn(minute))).toEqual([1, 1, 0]);
    expect([118, 119, 120, 121, 122].map((minute) => forecast.total.runningIn(minute))).toEqual([
      0, 1, 1, 1, 0,
    ]);
    expect(forecast.total.startsTotal).toBe(2);
  });

  it('never has more than max_concurrent at once, nor more than follow each other within one run', () => {
    const every = (maxConcurrent: number, durationMs: number) =>
      forecastOf([
        task('a', { schedule: cronSchedule('* * * * * *'), maxConcurrent, durationMs }),
        task('b', { schedule: intervalSchedule(30, BEGIN), maxConcurrent, durationMs }),
      ]);
    expect(runningAt(every(1, 3_600_000), TWO)).toBe(2);
    expect(runningAt(every(1000, 2500), TWO)).toBe(3 + 1);
    expect(runningAt(every(1000, 31_000), TWO)).toBe(31 + 2);
    expect(runningAt(every(5, 31_000), TWO)).toBe(5 + 2);
    expect(every(1, 100).total.startsIn(120)).toBe(60 + 2);
  });

  it('respects start and end of a schedule', () => {
    const bounds = { startAt: TWO, endAt: TWO + 4 * MINUTE };
    const tasks = [
      task('a', { schedule: cronSchedule('* * * * *', 'UTC', bounds) }),
      task('b', { schedule: cronSchedule('*/10 * * * * *', 'UTC', bounds) }),
      task('c', { schedule: intervalSchedule(60, TWO, bounds) }),
    ];
    const { total } = forecastOf(tasks);
    expect([119, 120, 123, 124, 125].map((minute) => total.startsIn(minute))).toEqual([0, 8, 8, 3, 0]);
  });

  it('has a load for each group and target, and one for those beyond the fifty greatest', () => {
    const many = Array.from({ length: 60 }, (_, i) =>
      task(`t${i}`, { group: `g${i}`, target: `http:h${i % 3}` }),
    );
    const forecast = forecastOf([...many, task('z', { group: 'g7', target: 'shell:default' })]);
    expect(forecast.groups.size).toBe(51);
    expect(forecast.groups.get('g7')).toMatchObject({ tasks: 2, startsTotal: 2, peak: { running: 2 } });
    expect(forecast.groups.get('_other')).toMatchObject({ tasks: 10, startsTotal: 10 });
    const targets = [...forecast.targets].map(([name, { tasks }]) => [name, tasks]);
    expect(targets).toEqual([
      ['http:h0', 20],
      ['http:h1', 20],
      ['http:h2', 20],
      ['shell:default', 1],
    ]);
  });

  it('takes steps together: all starts, the most runs at once', () => {
    const { total } = forecastOf([task('a'), task('b', { schedule: cronSchedule('4 2 * * *') })]);
    expect(total.series(1)).toEqual([
      { at: TWO, starts: 1, running: 1 },
      { at: TWO + 4 * MINUTE, starts: 1, running: 1 },
    ]);
    expect(total.series(10)).toEqual([{ at: TWO, starts: 2, running: 1 }]);
    expect(forecastOf([]).total.peak).toBeNull();
  });
});
