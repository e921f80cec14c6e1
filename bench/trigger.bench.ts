import { afterAll, beforeAll, it } from 'vitest';
import { v7 } from 'uuid';
import { DEFAULT_CRON } from '../src/domain/cron.js';
import { Leadership } from '../src/application/coordinator/leadership.js';
import { BATCH_LIMIT, Tick } from '../src/application/coordinator/tick.js';
import { RedisLock } from '../src/adapters/redis/redis-lock.js';
import { RedisQueue } from '../src/adapters/redis/redis-queue.js';
import { SqlExecutionRepo } from '../src/adapters/sql/sql-execution-repo.js';
import { SqlTaskRepo } from '../src/adapters/sql/sql-task-repo.js';
import { SqlTriggerRepo } from '../src/adapters/sql/sql-trigger-repo.js';
import { SystemClock } from '../src/adapters/system/system-clock.js';
import { UuidIds } from '../src/adapters/system/uuid-ids.js';
import { PrometheusMetrics } from '../src/adapters/telemetry/prometheus-metrics.js';
import { W3cTracer } from '../src/adapters/telemetry/w3c-tracer.js';
import { buildTask } from '../test/support/builders.js';
import { compare } from './measure.js';
import { servers } from './servers.js';
import { openStores, SILENT, type Stores } from './setup.js';

const BATCHES = 5;
const ROUNDS = 5;
const START = Date.UTC(2026, 0, 5);

/** Wall time is the schedule's: each batch is one second later, so that all tasks are due again. */
class SteppedClock extends SystemClock {
  wall = START;
  override now(): number {
    return this.wall;
  }
}

let stores: Stores;
let tick: Tick;
const clock = new SteppedClock();

beforeAll(async () => {
  stores = await openStores(servers());
  const { db, redis } = stores;
  const tasks = new SqlTaskRepo(db);
  const audit = { at: START, actor: 'bench', action: 'task.create', subject: '', before: null, after: null };
  for (let i = 0; i < BATCH_LIMIT; i++) {
    // Twenty zones and expressions for a thousand tasks, as teams have them.
    const schedule = {
      type: 'cron',
      expr: '* * * * * *',
      timezone: ZONES[i % 20] ?? 'UTC',
      ...DEFAULT_CRON,
      startAt: null,
      endAt: null,
      jitterSec: 0,
    } as const;
    await tasks.insert(
      buildTask({
        id: `bench-${i}`,
        schedule,
        nextTriggerTime: START,
        params: { n: i, text: 'x'.repeat(200) },
      }),
      audit,
    );
  }
  const queue = new RedisQueue(redis);
  const metrics = new PrometheusMetrics();
  const leadership = new Leadership({
    lock: new RedisLock(redis),
    clock,
    metrics,
    logger: SILENT,
    owner: 'bench',
    leaseMs: 60_000,
  });
  tick = new Tick(
    {
      leadership,
      triggers: new SqlTriggerRepo(db),
      executions: new SqlExecutionRepo(db),
      queue,
      fillOutcomes: { ensure: async () => undefined },
      clock,
      ids: new UuidIds(clock),
      tracer: new W3cTracer(),
      metrics,
      logger: SILENT,
    },
    { node: 'bench', tickMs: 1000, queueLimit: 1e9 },
  );
});

afterAll(async () => stores.close());

it('triggers: select, insert, advance, publish', async () => {
  await compare(`triggers/s in batches of ${BATCH_LIMIT}, MySQL and Redis beside it`, 'triggers/s', ROUNDS, [
    { name: 'raw loop of the same statements', work: rawBatches },
    { name: 'the tick of ax', work: tickBatches },
  ]);
});

async function tickBatches(): Promise<number> {
  for (let i = 0; i < BATCHES; i++) {
    clock.wall += 1000;
    await tick.turn();
  }
  return BATCHES * BATCH_LIMIT;
}

/** What remains if all of ax's own work is taken away: four statements in one transaction, and one pipeline. */
async function rawBatches(): Promise<number> {
  for (let i = 0; i < BATCHES; i++) {
    clock.wall += 1000;
    await rawBatch(new Date(clock.wall));
  }
  return BATCHES * BATCH_LIMIT;
}

async function rawBatch(now: Date): Promise<void> {
  const { raw, redis } = stores;
  await raw.beginTransaction();
  const [rows] = await raw.query(
    'SELECT * FROM task_meta WHERE enabled = 1 AND next_trigger_time <= ? ORDER BY next_trigger_time LIMIT 1000 FOR UPDATE SKIP LOCKED',
    [now],
  );
  const due = rows as { id: string; next_trigger_time: Date; executor_json: string; params_json: string }[];
  const events = due.map(({ id, next_trigger_time: slot }) => [
    v7(),
    id,
    'schedule',
    slot,
    now,
    slot,
    new Date(slot.getTime() + 5000),
    'bench',
    0,
    TRACE,
    'epoch',
  ]);
  await raw.query(
    `INSERT INTO trigger_event (id, task_id, kind, slot, fired_at, window_start, window_end, node, is_misfire, traceparent, queue_epoch) VALUES ?`,
    [events],
  );
  const next = new Date(now.getTime() + 1000);
  await raw.query('UPDATE task_meta SET next_trigger_time = ? WHERE id IN (?)', [
    next,
    due.map(({ id }) => id),
  ]);
  await raw.commit();
  await redis.run(async (client) => {
    const pipeline = client.pipeline();
    for (const [i, row] of due.entries()) {
      pipeline.xadd(
        `${redis.keys.queuePrefix}raw`,
        '*',
        'm',
        JSON.stringify({ event: events[i], task: row }),
      );
    }
    await pipeline.exec();
  });
}

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const ZONES = Intl.supportedValuesOf('timeZone').slice(0, 20);
