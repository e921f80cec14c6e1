import { describe, expect, it } from 'vitest';
import { ForecastLoad } from '../../../../src/application/forecast/forecast-load.js';
import { type BrokenTask, type Task } from '../../../../src/domain/task.js';
import { type TaskFilter } from '../../../../src/ports/task-repo.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { SHELL_SPEC } from '../../../support/pools.js';
import { cronSchedule, policyOf } from '../../domain/definition.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MINUTE = 60_000;

function scene(tasks: readonly (Task | BrokenTask)[], limits = { maxTasks: 3000, maxSteps: 1_000_000 }) {
  const clock = new FakeClock();
  const filters: TaskFilter[] = [];
  const durations = new Map<string, number>();
  const forecastLoad = new ForecastLoad(
    {
      clock,
      tasks: {
        list: async (filter, { size, cursor }) => {
          filters.push(filter);
          const from = Number(cursor ?? 0);
          const items = tasks.slice(from, from + size);
          return { items, nextCursor: from + size < tasks.length ? String(from + size) : null };
        },
      },
      durations: { p95: async () => durations, timings: () => Promise.reject(new Error('not asked')) },
    },
    limits,
  );
  return { clock, filters, durations, forecastLoad };
}

describe('ForecastLoad', () => {
  it('takes a day from now, in whole minutes, of enabled tasks', async () => {
    const { clock, filters, forecastLoad } = scene([buildTask()]);
    clock.set(BASE + 1500);
    const { forecast, tasks } = await forecastLoad.forecast({});
    expect(forecast.range).toEqual({ begin: BASE, minutes: 1441 });
    expect({ tasks, filters }).toEqual({ tasks: 1, filters: [{ isEnabled: true }] });
    expect(forecast.total.startsTotal).toBe(25);
    await forecastLoad.forecast({ from: BASE, to: BASE + 1, group: 'g' });
    expect(filters.at(-1)).toEqual({ isEnabled: true, group: 'g' });
  });

  it('reads all pages, and leaves out what cannot be read', async () => {
    const broken = { id: 'x', name: 'x', group: 'g', isEnabled: true, version: 1, error: 'spoilt' };
    const many = Array.from({ length: 2500 }, () => buildTask());
    const result = await scene([broken, ...many]).forecastLoad.forecast({ from: BASE, to: BASE + MINUTE });
    expect(result).toMatchObject({ tasks: 2500, broken: 1, assumed: 2500 });
  });

  it('lets a run take the p95 of past ones, else 30 s or its timeout', async () => {
    const hourly = (id: string, timeoutSec: number) => buildTask({ id, policy: policyOf({ timeoutSec }) });
    const { durations, forecastLoad } = scene([hourly('known', 600), hourly('new', 600), hourly('short', 7)]);
    durations.set('known', 90_500);
    const { forecast, assumed } = await forecastLoad.forecast({});
    expect(forecast.tasks).toMatchObject([
      { id: 'known', durationMs: 90_500, isAssumed: false },
      { id: 'new', durationMs: 30_000, isAssumed: true },
      { id: 'short', durationMs: 7000, isAssumed: true },
    ]);
    expect(assumed).toBe(2);
    expect([0, 1, 2].map((minute) => forecast.total.runningIn(minute))).toEqual([3, 1, 0]);
  });

  it('tells targets by host, by broker and exchange, and by pool', async () => {
    const mq = {
      type: 'mq',
      broker: 'default',
      exchange: 'jobs',
      routingKey: 'k',
      headers: {},
      ack: 'delivered',
    };
    const tasks = [
      buildTask(),
      buildTask({ executor: mq as Task['executor'] }),
      buildTask({ executor: SHELL_SPEC, pool: 'batch' }),
    ];
    const { forecast } = await scene(tasks).forecastLoad.forecast({});
    expect([...forecast.targets.keys()].sort()).toEqual([
      'http:127.0.0.1:9',
      'mq:default/jobs',
      'shell:batch',
    ]);
  });

  it.each([
    [{ from: BASE, to: BASE }, 'from', 'is not before to'],
    [{ from: BASE + 2 * DAY, to: BASE + DAY }, 'from', 'is not before to'],
    [{ to: BASE }, 'from', 'is not before to'],
    [{ from: BASE, to: BASE + 31 * DAY + 1 }, 'to', 'is more than 31 days after from'],
  ])('refuses %j', async (request, field, problem) => {
    const refused = scene([]).forecastLoad.forecast(request);
    await expect(refused).rejects.toMatchObject({ problems: [{ field, problem }] });
  });

  it('refuses more tasks and more work than one answer may take', async () => {
    const tasks = Array.from({ length: 11 }, () => buildTask({ schedule: cronSchedule('* * * * *') }));
    const few = scene(tasks, { maxTasks: 10, maxSteps: 1_000_000 }).forecastLoad;
    await expect(few.forecast({})).rejects.toMatchObject({ problems: [{ field: 'group' }] });
    const short = scene(tasks, { maxTasks: 11, maxSteps: 11 * 1440 }).forecastLoad;
    await expect(short.forecast({})).rejects.toMatchObject({ problems: [{ field: 'from' }] });
    expect((await short.forecast({ from: BASE, to: BASE + HOUR })).tasks).toBe(11);
  });

  it('lets others in while it works, and makes one at a time', async () => {
    const { clock, forecastLoad } = scene(Array.from({ length: 30 }, () => buildTask()));
    let now = 0;
    clock.monotonicMs = () => (now += 3);
    let sleeps = 0;
    clock.sleep = async () => void sleeps++;
    const first = forecastLoad.forecast({});
    await expect(forecastLoad.forecast({})).rejects.toMatchObject({ code: 'conflict' });
    expect((await first).tasks).toBe(30);
    expect(sleeps).toBeGreaterThan(5);
    expect((await forecastLoad.forecast({})).tasks).toBe(30);
  });
});
