import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { it } from 'vitest';
import { openSqlite } from '../src/adapters/embedded/sqlite-store.js';
import { EVENT_COLUMNS, eventRow } from '../src/adapters/sql/event-row.js';
import { type SqlDb } from '../src/adapters/sql/sql-db.js';
import { SqlDurationRepo } from '../src/adapters/sql/sql-duration-repo.js';
import { SqlTaskRepo } from '../src/adapters/sql/sql-task-repo.js';
import { SystemClock } from '../src/adapters/system/system-clock.js';
import { SystemRandom } from '../src/adapters/system/system-random.js';
import { SummarizeRuns } from '../src/application/executions/summarize-runs.js';
import { BASE, buildEvent } from '../test/support/builders.js';
import { uuidAt } from '../test/support/runs.js';
import { servers } from './servers.js';
import { openStores } from './setup.js';

const RUNS = 300_000;
const ROUNDS = 3;
const CHUNK = 1000;
const LOG_COLUMNS = [
  'id',
  'task_id',
  'status',
  'reason',
  'generation',
  'attempt',
  'started_at',
  'finished_at',
];

/** A task that fires every second, beside another one. */
async function fill(db: SqlDb): Promise<void> {
  const { dialect } = db;
  for (let begin = 0; begin < RUNS; begin += CHUNK) {
    const slots = Array.from({ length: Math.min(CHUNK, RUNS - begin) }, (_, i) => BASE + (begin + i) * 1000);
    const events = slots.flatMap((slot, i) =>
      ['busy', 'other'].map((taskId, n) =>
        buildEvent({ id: uuidAt(slot + (i % 40), n), taskId, slot, firedAt: slot + (i % 40) }),
      ),
    );
    await db.transaction(async (sql) => {
      await sql.insert(
        'trigger_event',
        EVENT_COLUMNS,
        events.map((event) => eventRow(event, dialect)),
      );
      await sql.insert(
        'execution_log',
        [...LOG_COLUMNS, 'evidence_json', 'progress', 'updated_at'],
        events.map(({ id, taskId, firedAt }, i) => [
          ...[id, taskId, i % 50 === 0 ? 'fail' : 'success', i % 50 === 0 ? 'http_status' : null, 1, 1],
          ...[dialect.instant(firedAt + 4), dialect.instant(firedAt + 4 + ((i * 7919) % 1500))],
          ...['{"http_status":200,"bytes":1024}', 1, dialect.instant(firedAt)],
        ]),
      );
    });
  }
}

async function measure(name: string, db: SqlDb): Promise<void> {
  const ports = { tasks: new SqlTaskRepo(db), durations: new SqlDurationRepo(db), clock: new SystemClock() };
  const summarizeRuns = new SummarizeRuns(ports);
  for (const runs of [86_400, RUNS]) {
    for (let round = 0; round < ROUNDS; round++) {
      let longest = 0;
      let last = performance.now();
      const watch = setInterval(() => {
        longest = Math.max(longest, performance.now() - last - 1);
        last = performance.now();
      }, 1);
      const startedAt = performance.now();
      const cpu = process.cpuUsage();
      const { stats } = await summarizeRuns.summarize('busy', { from: BASE, to: BASE + runs * 1000 });
      const ms = performance.now() - startedAt;
      const { user, system } = process.cpuUsage(cpu);
      clearInterval(watch);
      process.stdout.write(
        `  ${name}: ${stats.total} executions in ${ms.toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms of this process), ` +
          `others waited ${longest.toFixed(0)} ms at most; p99 of duration ${stats.duration.p99Ms} ms\n`,
      );
    }
  }
}

it('statistics of a task that fires every second, on MySQL', async () => {
  const stores = await openStores(servers());
  await fill(stores.db);
  await measure('MySQL', stores.db);
  await stores.close();
});

it('the same on SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ax-bench-'));
  const store = await openSqlite(directory, { clock: new SystemClock(), random: new SystemRandom() });
  await fill(store.db);
  await measure('SQLite', store.db);
  await store.close({ clean: true });
  await rm(directory, { recursive: true });
});
