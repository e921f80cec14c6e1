import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForecastLoad } from '../../src/application/forecast/forecast-load.js';
import { BASE, buildReport, buildTask } from '../support/builders.js';
import { openMysqlStore } from '../support/mysql-store.js';
import { uuidAt } from '../support/runs.js';
import { auditOf } from '../support/store.js';

const DAY = 86_400_000;
const RUNS = 5000;

describe('a forecast on MySQL', () => {
  let store: Awaited<ReturnType<typeof openMysqlStore>>;
  beforeAll(async () => {
    store = await openMysqlStore();
    for (const [id, isEnabled] of [
      ['busy', true],
      ['new', true],
      ['off', false],
    ] as const)
      await store.tasks.insert(buildTask({ id, isEnabled, nextTriggerTime: null }), auditOf(id));
    for (let i = 0; i < RUNS; i += 1000) {
      const reports = Array.from({ length: 1000 }, (_, n) => {
        const startedAt = BASE - DAY + (i + n) * 1000;
        const isLast = i + n >= RUNS - 20;
        return buildReport({
          executionId: uuidAt(startedAt),
          taskId: 'busy',
          status: 'success',
          startedAt,
          finishedAt: startedAt + (isLast ? 150_000 : 1000),
        });
      });
      await store.executions.apply(reports);
    }
  });
  afterAll(() => store.close());

  it('takes enabled tasks and the latest durations of each', async () => {
    const { tasks, durations, clock } = store;
    const forecastLoad = new ForecastLoad({ tasks, durations, clock }, { maxTasks: 10, maxSteps: 10_000 });
    const { forecast, assumed } = await forecastLoad.forecast({ from: BASE, to: BASE + 3_600_000 });
    expect(assumed).toBe(1);
    expect(forecast.tasks.map(({ id, durationMs }) => [id, durationMs])).toEqual([
      ['busy', 150_000],
      ['new', 30_000],
    ]);
    expect([0, 1, 2, 3].map((minute) => forecast.total.runningIn(minute))).toEqual([2, 1, 1, 0]);
  });

  it('reads the sample and not the history', async () => {
    const reads = async () => {
      const rows = await store.db.read((sql) =>
        sql.rows<{ Value: string }>("SHOW SESSION STATUS LIKE 'Handler_read%'"),
      );
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
    };
    const before = await reads();
    await store.durations.p95(['busy', 'new'], { since: BASE - 31 * DAY, sample: 20 });
    const read = (await reads()) - before;
    expect(read).toBeGreaterThan(20);
    expect(read).toBeLessThan(500);
  });
});
