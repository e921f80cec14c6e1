import { Redis } from 'ioredis';
import { afterAll, beforeAll, inject, it } from 'vitest';
import { CollectResults } from '../src/application/coordinator/collect-results.js';
import { messageFor } from '../src/application/message-for.js';
import { Readiness } from '../src/application/readiness.js';
import { Heartbeats } from '../src/application/worker/heartbeats.js';
import { ReceiptDesk } from '../src/application/worker/receipt-desk.js';
import { RunExecution } from '../src/application/worker/run-execution.js';
import { WorkerLoop } from '../src/application/worker/worker-loop.js';
import { RedisClaims } from '../src/adapters/redis/redis-claims.js';
import { RedisLastOutcomes } from '../src/adapters/redis/redis-last-outcomes.js';
import { RedisQueue } from '../src/adapters/redis/redis-queue.js';
import { RedisReceipts } from '../src/adapters/redis/redis-receipts.js';
import { RedisResults } from '../src/adapters/redis/redis-results.js';
import { RedisStops } from '../src/adapters/redis/redis-stops.js';
import { SqlExecutionRepo } from '../src/adapters/sql/sql-execution-repo.js';
import { SystemClock } from '../src/adapters/system/system-clock.js';
import { Sha256TokenHash } from '../src/adapters/system/sha256-token-hash.js';
import { SystemRandom } from '../src/adapters/system/system-random.js';
import { UuidIds } from '../src/adapters/system/uuid-ids.js';
import { PrometheusMetrics } from '../src/adapters/telemetry/prometheus-metrics.js';
import { W3cTracer } from '../src/adapters/telemetry/w3c-tracer.js';
import { type ExecutionReport } from '../src/domain/execution.js';
import { DEFAULT_POLICY } from '../src/domain/policy.js';
import { DEFAULT_MAX_WAITING } from '../src/ports/claims.js';
import { type Executor } from '../src/ports/executor.js';
import { type QueueMessage } from '../src/ports/queue.js';
import { buildEvent, buildReport, buildTask } from '../test/support/builders.js';
import { until } from '../test/support/until.js';
import { compare } from './measure.js';
import { servers } from './servers.js';
import { openStores, SILENT, type Stores } from './setup.js';

const RUNS = 10_000;
const ROUNDS = 5;
const IN_FLIGHT = 500;

/** Succeeds at once: what is measured is ax, not a target. */
const INSTANT: Executor = {
  type: 'http',
  execute: () =>
    Promise.resolve({ status: 'success', reason: null, message: null, evidence: { http_status: 200 } }),
  close: () => Promise.resolve(),
};

let stores: Stores;
let queue: RedisQueue;
const clock = new SystemClock();
const ids = new UuidIds(clock);
let slot = 0;

beforeAll(async () => {
  stores = await openStores(servers());
  queue = new RedisQueue(stores.redis);
});

afterAll(async () => stores.close());

it('executions: claim, finish, collect', async () => {
  await compare(
    `executions/s, ${IN_FLIGHT} in flight, one process, MySQL and Redis beside it`,
    'executions/s',
    ROUNDS,
    [
      { name: 'raw loop: take, SET NX, finish in MULTI, insert', prepare: rawPublish, work: rawRuns(false) },
      { name: 'raw loop with reports and ledger as ax has', prepare: rawPublish, work: rawRuns(true) },
      { name: 'worker and collector of ax', prepare: axPublish, work: axRuns },
    ],
  );
});

async function messages(): Promise<QueueMessage[]> {
  const queueEpoch = await queue.epoch();
  return Array.from({ length: RUNS }, (_, i) => {
    const task = buildTask({ id: `bench-${i % 500}`, policy: { ...DEFAULT_POLICY, maxConcurrent: 1000 } });
    const event = buildEvent({ id: ids.next(), taskId: task.id, slot: (slot += 1000), queueEpoch });
    return messageFor(event, task, 0, clock.now(), queueEpoch);
  });
}

const axPublish = async (): Promise<void> => void (await queue.publish(await messages()));

/** From the first take until the last result is in MySQL. */
async function axRuns(): Promise<number> {
  const { redis, db } = stores;
  const [claims, results, executions] = [
    new RedisClaims(redis),
    new RedisResults(redis),
    new SqlExecutionRepo(db),
  ];
  const metrics = new PrometheusMetrics();
  const readiness = new Readiness(clock, 60_000);
  const common = { clock, metrics, logger: SILENT, readiness };
  const receipts = new RedisReceipts(redis);
  const worker = `bench-${ids.next()}`;
  const heartbeats = new Heartbeats({ ...common, claims, stops: new RedisStops(redis), claimTtlMs: 15_000 });
  const runExecution = new RunExecution({
    ...common,
    queue,
    claims,
    heartbeats,
    executors: new Map([[INSTANT.type, INSTANT]]),
    lastOutcomes: new RedisLastOutcomes(redis),
    receipts,
    receiptDesk: new ReceiptDesk({ ...common, receipts }),
    tokenHash: new Sha256TokenHash(),
    publicUrl: null,
    random: new SystemRandom(),
    tracer: new W3cTracer(),
    worker,
    claimTtlMs: 15_000,
    maxWaiting: DEFAULT_MAX_WAITING,
  });
  const options = { pools: ['default'], concurrency: IN_FLIGHT, claimTtlMs: 15_000, drainMs: 10_000, worker };
  const stop = new AbortController();
  const working = new WorkerLoop({ ...common, queue, runExecution, heartbeats }, options).run(stop.signal);
  const collecting = new CollectResults({ ...common, results, executions, taker: worker }).run(stop.signal);
  await until(
    'all results are applied',
    async () => (await queue.depth()) + (await results.backlog()).depth === 0,
    120_000,
  );
  stop.abort();
  await Promise.all([working, collecting]);
  return RUNS;
}

const lane = () => `${stores.redis.keys.queuePrefix}raw`;
const results = () => `${stores.redis.keys.queuePrefix}raw-results`;

async function rawPublish(): Promise<void> {
  const client = new Redis(inject('redisUrl'));
  for (const stream of [lane(), results()]) {
    await client.xgroup('CREATE', stream, 'raw', '0', 'MKSTREAM').catch(() => undefined);
  }
  const fill = client.pipeline();
  for (const message of await messages()) fill.xadd(lane(), '*', 'm', JSON.stringify(message));
  await fill.exec();
  client.disconnect();
}

/**
 * The same messages without generations, marks and state machine. `withLedger` adds what makes a run traceable: a report when it begins,
 * reports that carry the whole state, and a ledger line for each.
 */
const rawRuns = (withLedger: boolean) => async (): Promise<number> => {
  const client = new Redis(inject('redisUrl'));
  const collector = client.duplicate();
  const working = rawWorker(client, withLedger);
  for (let done = 0; done < RUNS;) done += await rawCollect(collector, withLedger);
  await working;
  client.disconnect();
  collector.disconnect();
  return RUNS;
};

type Entries = [stream: string, entries: [id: string, fields: string[]][]][] | null;

async function rawWorker(client: Redis, withLedger: boolean): Promise<void> {
  for (let done = 0; done < RUNS;) {
    const taken = await client.xreadgroup('GROUP', 'raw', 'w', 'COUNT', IN_FLIGHT, 'STREAMS', lane(), '>');
    const parsed = ((taken as Entries)?.[0]?.[1] ?? []).map(([entry, fields]) => ({
      entry,
      message: JSON.parse(fields[1] ?? '') as QueueMessage,
    }));
    const claim = client.pipeline();
    for (const { message } of parsed) {
      claim.set(`${lane()}:claim:${message.event.id}`, 'w', 'PX', 15_000, 'NX');
      if (withLedger) claim.xadd(results(), '*', 'r', JSON.stringify(reportOf(message, 'running')));
    }
    await claim.exec();
    const finish = client.multi();
    for (const { entry, message } of parsed) {
      const { id, taskId } = message.event;
      const short = { executionId: id, taskId, status: 'success', entry: { at: clock.now() } };
      finish.xadd(results(), '*', 'r', JSON.stringify(withLedger ? reportOf(message, 'success') : short));
      finish.xack(lane(), 'raw', entry);
      finish.xdel(lane(), entry);
      finish.del(`${lane()}:claim:${id}`);
    }
    await finish.exec();
    done += parsed.length;
  }
}

/** The number of runs that ended. */
async function rawCollect(client: Redis, withLedger: boolean): Promise<number> {
  const taken = await client.xreadgroup(
    'GROUP',
    'raw',
    'c',
    'COUNT',
    1000,
    'BLOCK',
    20,
    'STREAMS',
    results(),
    '>',
  );
  const entries = (taken as Entries)?.[0]?.[1] ?? [];
  if (entries.length === 0) return 0;
  const reports = entries.map(([, fields]) => JSON.parse(fields[1] ?? '') as ExecutionReport);
  const latest = new Map(reports.map((report) => [report.executionId, report]));
  const rows = [...latest.values()].map(({ executionId, taskId, status, entry }) => {
    const at = new Date(entry.at);
    return [executionId, taskId, status, 'w', 1, 1, at, at, '{}', 1, at];
  });
  await stores.raw.query(
    `INSERT INTO execution_log (id, task_id, status, worker, generation, attempt, started_at, finished_at, evidence_json,
     progress, updated_at) VALUES ? ON DUPLICATE KEY UPDATE status = VALUES(status), finished_at = VALUES(finished_at)`,
    [rows],
  );
  if (withLedger) {
    await stores.raw.query(
      'INSERT IGNORE INTO execution_event (execution_id, at, generation, seq, kind, node, detail_json) VALUES ?',
      [
        reports.map(({ executionId, generation, seq, entry }) => [
          executionId,
          new Date(entry.at),
          generation,
          seq,
          entry.kind,
          entry.node,
          JSON.stringify(entry.detail),
        ]),
      ],
    );
  }
  const handles = entries.map(([id]) => id);
  await client
    .multi()
    .xack(results(), 'raw', ...handles)
    .xdel(results(), ...handles)
    .exec();
  return reports.filter(({ status }) => status === 'success').length;
}

function reportOf({ event }: QueueMessage, status: 'running' | 'success'): ExecutionReport {
  const at = clock.now();
  const evidence = { http_status: 200 };
  const isEnd = status === 'success';
  const detail = isEnd
    ? { attempt: 1, status, reason: null, message: null, started_at: at, finished_at: at, evidence }
    : { worker: 'w', generation: 1, published_at: at };
  return buildReport({
    executionId: event.id,
    taskId: event.taskId,
    seq: isEnd ? 1 : 0,
    status,
    evidence: isEnd ? evidence : {},
    entry: { kind: isEnd ? 'finished' : 'claimed', at, node: 'w', detail },
  });
}
