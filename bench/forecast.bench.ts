import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, it } from 'vitest';
import { SqlDurationRepo } from '../src/adapters/sql/sql-duration-repo.js';
import { SqlTaskRepo } from '../src/adapters/sql/sql-task-repo.js';
import { taskRow } from '../src/adapters/sql/task-row.js';
import { SystemClock } from '../src/adapters/system/system-clock.js';
import { ForecastLoad } from '../src/application/forecast/forecast-load.js';
import { forecastJson } from '../src/adapters/http/forecast-routes.js';
import { DEFAULT_CRON } from '../src/domain/cron.js';
import { type Schedule } from '../src/domain/schedule.js';
import { BASE, buildTask } from '../test/support/builders.js';
import { uuidAt } from '../test/support/runs.js';
import { servers } from './servers.js';
import { openStores, type Stores } from './setup.js';

const TASKS = 5000;
const RUNS_PER_TASK = 40;
const DAYS = 7;
const ROUNDS = 5;
const ZONES = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Europe/Berlin'];

/** What a real installation has: many at the full hour and at night, some every few minutes, a few every second. */
function scheduleOf(i: number): Schedule {
  const cron = (expr: string): Schedule => ({
    type: 'cron',
    expr,
    timezone: ZONES[i % ZONES.length] ?? 'UTC',
    ...DEFAULT_CRON,
    startAt: null,
    endAt: null,
    jitterSec: 0,
  });
  const every = (everySec: number): Schedule => ({
    type: 'interval',
    everySec,
    anchorAt: BASE + (i % 977) * 1000,
    startAt: null,
    endAt: null,
    jitterSec: 0,
  });
  const kind = i % 20;
  if (kind < 6) return cron(`${i % 60} ${(i * 7) % 24} * * *`);
  if (kind < 10) return cron(`0 ${i % 6} * * *`);
  if (kind < 12) return cron(`${i % 60} * * * *`);
  if (kind < 14) return cron('0 * * * *');
  if (kind < 16) return cron(`*/${[5, 10, 15, 30][i % 4]} * * * *`);
  if (kind === 16) return every(60 + (i % 600));
  if (kind === 17) return cron(i % 3 === 0 ? '* * * * *' : `${i % 60} 9-18 * * 1-5`);
  if (kind === 18) return every(5 + (i % 50));
  return cron(i % 5 === 0 ? '*/10 * * * * *' : `${i % 60} 3 1 * *`);
}

let stores: Stores;
beforeAll(async () => {
  stores = await openStores(servers());
  const { db } = stores;
  const ids = Array.from({ length: TASKS }, (_, i) => `bench-${String(i).padStart(5, '0')}`);
  const rows = ids.map((id, i) =>
    taskRow(buildTask({ id, group: `group-${i % 30}`, schedule: scheduleOf(i) }), db.dialect),
  );
  for (let i = 0; i < rows.length; i += 500) await db.knex('task_meta').insert(rows.slice(i, i + 500));
  const columns = ['id', 'task_id', 'status', 'generation', 'attempt', 'started_at', 'finished_at'];
  for (let run = 0; run < RUNS_PER_TASK; run++) {
    const at = Date.now() - run * 3_600_000;
    const instant = (epochMs: number) => db.dialect.instant(epochMs);
    await db.read((sql) =>
      sql.insert(
        'execution_log',
        [...columns, 'evidence_json', 'progress', 'updated_at'],
        ids.map((id, i) => [
          uuidAt(at, run * TASKS + i),
          id,
          'success',
          1,
          1,
          instant(at),
          instant(at + 200 + (i % 300) * 100),
          '{"http_status":200,"bytes":1024}',
          1,
          instant(at),
        ]),
      ),
    );
  }
  await db.read((sql) => sql.run('ANALYZE TABLE execution_log'));
});
afterAll(() => stores.close());

it(`forecast of ${DAYS} days over ${TASKS} tasks`, async () => {
  const clock = new SystemClock();
  const { db } = stores;
  const parts = { tasks: new SqlTaskRepo(db), durations: new SqlDurationRepo(db), clock };
  const forecastLoad = new ForecastLoad(parts, { maxTasks: 20_000, maxSteps: 300_000_000 });
  const from = Date.now();
  for (let round = 0; round < ROUNDS; round++) {
    const { durations } = parts;
    const ids = Array.from({ length: TASKS }, (_, i) => `bench-${String(i).padStart(5, '0')}`);
    let longest = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last - 1);
      last = performance.now();
    }, 1);
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const result = await forecastLoad.forecast({ from, to: from + DAYS * 86_400_000 });
    const computed = performance.now();
    const { length } = JSON.stringify(forecastJson(result));
    const ended = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    clearInterval(watch);
    const queried = performance.now();
    await durations.p95(ids, { since: from - 31 * 86_400_000, sample: 20 });
    const query = performance.now() - queried;
    process.stdout.write(
      `  ${(ended - startedAt).toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of this process); ` +
        `JSON of ${(length / 1024).toFixed(0)} KiB took ${(ended - computed).toFixed(0)} ms, durations alone ${query.toFixed(0)} ms; ` +
        `others waited ${longest.toFixed(0)} ms at most; ${result.forecast.total.startsTotal} starts\n`,
    );
  }
});
