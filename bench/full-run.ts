import { AxError } from '../src/domain/errors.js';
import { DEFAULT_CRON } from '../src/domain/cron.js';
import { DEFAULT_POLICY } from '../src/domain/policy.js';
import { type Task } from '../src/domain/task.js';
import { CollectResults } from '../src/application/coordinator/collect-results.js';
import { Leadership } from '../src/application/coordinator/leadership.js';
import { BATCH_LIMIT, Tick } from '../src/application/coordinator/tick.js';
import { Readiness } from '../src/application/readiness.js';
import { Heartbeats } from '../src/application/worker/heartbeats.js';
import { ReceiptDesk } from '../src/application/worker/receipt-desk.js';
import { RunExecution } from '../src/application/worker/run-execution.js';
import { WorkerLoop } from '../src/application/worker/worker-loop.js';
import { HttpExecutor } from '../src/adapters/executors/http-executor.js';
import { RedisClaims } from '../src/adapters/redis/redis-claims.js';
import { RedisLastOutcomes } from '../src/adapters/redis/redis-last-outcomes.js';
import { RedisLock } from '../src/adapters/redis/redis-lock.js';
import { RedisQueue } from '../src/adapters/redis/redis-queue.js';
import { RedisReceipts } from '../src/adapters/redis/redis-receipts.js';
import { RedisResults } from '../src/adapters/redis/redis-results.js';
import { RedisStops } from '../src/adapters/redis/redis-stops.js';
import { SqlExecutionRepo } from '../src/adapters/sql/sql-execution-repo.js';
import { SqlTaskRepo } from '../src/adapters/sql/sql-task-repo.js';
import { SqlTriggerRepo } from '../src/adapters/sql/sql-trigger-repo.js';
import { SystemClock } from '../src/adapters/system/system-clock.js';
import { Sha256TokenHash } from '../src/adapters/system/sha256-token-hash.js';
import { SystemRandom } from '../src/adapters/system/system-random.js';
import { UuidIds } from '../src/adapters/system/uuid-ids.js';
import { TracedExecutionRepo } from '../src/adapters/telemetry/traced-execution-repo.js';
import { TracedExecutor } from '../src/adapters/telemetry/traced-executor.js';
import { TracedQueue } from '../src/adapters/telemetry/traced-queue.js';
import { DEFAULT_MAX_WAITING } from '../src/ports/claims.js';
import { type Executor } from '../src/ports/executor.js';
import { type Metrics } from '../src/ports/metrics.js';
import { type Tracer } from '../src/ports/tracer.js';
import { buildTask } from '../test/support/builders.js';
import { until } from '../test/support/until.js';
import { openStores, SILENT, type StoreUrls } from './setup.js';

const START = Date.UTC(2026, 0, 5);
const IN_FLIGHT = 200;

/** Succeeds at once, so that ax alone is measured. */
const INSTANT: Executor = {
  type: 'http',
  execute: async () => ({ status: 'success', reason: null, message: null, evidence: { http_status: 200 } }),
  close: async () => undefined,
};

/** Each batch is one second later, so that all tasks are due again. */
class SteppedClock extends SystemClock {
  private behind = START - Date.now();

  override now(): number {
    return super.now() + this.behind;
  }

  step(): void {
    this.behind += 1000;
  }
}

/**
 * A coordinator and a worker in this process, on stores of their own; with `isTraced`, all that a node that exports traces wraps tells
 * `tracer` of its spans. With a thousand tasks that are due every second.
 */
export async function openFullRun({
  metrics,
  tracer,
  isTraced,
  targetUrl,
  ...urls
}: StoreUrls & {
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  readonly isTraced: boolean;
  /** Null: an executor that calls nothing. */
  readonly targetUrl: string | null;
}) {
  const stores = await openStores(urls, metrics);
  const { db, redis } = stores;
  const clock = new SteppedClock();
  await insertTasks(new SqlTaskRepo(db), targetUrl);
  const traced = { tracer, clock, system: 'mysql' };
  const call =
    targetUrl === null ? INSTANT : new HttpExecutor({ clock: new SystemClock(), version: 'bench' });
  const plain = { queue: new RedisQueue(redis), executions: new SqlExecutionRepo(db), executor: call };
  const { queue, executions, executor } = isTraced
    ? {
        queue: new TracedQueue(plain.queue, traced),
        executions: new TracedExecutionRepo(plain.executions, traced),
        executor: new TracedExecutor(plain.executor, traced),
      }
    : plain;
  const [claims, results] = [new RedisClaims(redis), new RedisResults(redis)];
  const receipts = new RedisReceipts(redis);
  const readiness = new Readiness(clock, 60_000);
  const common = { clock, metrics, tracer, logger: SILENT, readiness, queue, claims, results, executions };
  const heartbeats = new Heartbeats({ ...common, stops: new RedisStops(redis), claimTtlMs: 15_000 });
  const leadership = new Leadership({
    ...common,
    lock: new RedisLock(redis),
    owner: 'bench',
    leaseMs: 60_000,
  });
  const tick = new Tick(
    {
      ...{ ...common, leadership, triggers: new SqlTriggerRepo(db), ids: new UuidIds(clock) },
      fillOutcomes: { ensure: async () => undefined },
    },
    { node: 'bench', tickMs: 1000, queueLimit: 1e9 },
  );
  const runExecution = new RunExecution({
    ...{ ...common, heartbeats, receipts, receiptDesk: new ReceiptDesk({ ...common, receipts }) },
    executors: new Map([[executor.type, executor]]),
    lastOutcomes: new RedisLastOutcomes(redis),
    tokenHash: new Sha256TokenHash(),
    random: new SystemRandom(),
    worker: 'bench',
    ...{ claimTtlMs: 15_000, maxWaiting: DEFAULT_MAX_WAITING, publicUrl: null },
  });

  const options = { pools: ['default'], concurrency: IN_FLIGHT, claimTtlMs: 15_000, drainMs: 10_000 };
  const drained = async () =>
    (await surely(() => queue.depth())) + (await surely(() => results.backlog())).depth === 0;

  return {
    /** Triggers all tasks `batches` times and waits until the last result is in MySQL; the number of runs. */
    async run(batches: number): Promise<number> {
      const stop = new AbortController();
      const loop = new WorkerLoop({ ...common, runExecution, heartbeats }, { ...options, worker: 'bench' });
      const collector = new CollectResults({ ...common, taker: 'bench' });
      const running = [loop.run(stop.signal), collector.run(stop.signal)];
      for (let i = 0; i < batches; i += 1) {
        clock.step();
        await surely(() => tick.turn());
      }
      await until('all results are applied', drained, 120_000);
      stop.abort();
      await Promise.all(running);
      return batches * BATCH_LIMIT;
    },
    close: () => stores.close(),
  };
}

/** Repeats what a store on a busy machine did not answer in time, as the loops of ax do. */
async function surely<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof AxError && error.retryable)) throw error;
    }
  }
}

async function insertTasks(tasks: SqlTaskRepo, targetUrl: string | null): Promise<void> {
  const audit = { at: START, actor: 'bench', action: 'task.create', subject: '', before: null, after: null };
  const schedule = {
    ...DEFAULT_CRON,
    type: 'cron',
    expr: '* * * * * *',
    timezone: 'UTC',
    startAt: null,
    endAt: null,
    jitterSec: 0,
  } as const;
  const executor = {
    ...buildTask().executor,
    ...(targetUrl === null ? {} : { url: targetUrl }),
  } as Task['executor'];
  const policy = { ...DEFAULT_POLICY, maxConcurrent: 1000, misfirePolicy: 'skip' } as const;
  for (let i = 0; i < BATCH_LIMIT; i += 1) {
    const names = { id: `bench-${i}`, group: `group-${i % 20}` };
    await tasks.insert(buildTask({ ...names, schedule, policy, executor, nextTriggerTime: START }), audit);
  }
}
