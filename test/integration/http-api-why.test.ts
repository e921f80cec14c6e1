import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { HttpExecutor } from '../../src/adapters/executors/http-executor.js';
import { createHttpApp } from '../../src/adapters/http/create-http-app.js';
import { type HttpServer, startHttpServer } from '../../src/adapters/http/start-http-server.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { createLogger } from '../../src/adapters/telemetry/pino-logger.js';
import { PrometheusMetrics } from '../../src/adapters/telemetry/prometheus-metrics.js';
import { RunReports } from '../../src/application/worker/run-reports.js';
import { type WhyCode } from '../../src/domain/why/why.js';
import { parseConfig } from '../../src/main/config.js';
import { createContainer } from '../../src/main/container.js';
import {
  executorsModule,
  redisModule,
  storeModule,
  systemModule,
  telemetryModule,
} from '../../src/main/modules/adapters.js';
import { TOKENS as T } from '../../src/main/tokens.js';
import { Callee } from '../support/callee.js';
import { reply, stallHeaders } from '../support/callee-answers.js';
import { createMysqlDatabase, type MysqlDatabase } from '../support/mysql.js';
import { connectMysql } from '../support/mysql-store.js';
import { buildWorker } from '../support/pools.js';
import { RedisNamespace } from '../support/redis-namespace.js';
import { RunningLoops } from '../support/running-loops.js';
import { until } from '../support/until.js';

const TOKEN = 'the-token-of-this-test';
const CLAIM_MS = 1000;
const LIFE_MS = 600_000;

interface Answer {
  readonly code: WhyCode;
  readonly summary: string;
  readonly slot: number | null;
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** One node whose parts run when the test lets them, and whose API is asked why. */
describe('GET /api/tasks/{id}/why on MySQL and Redis', () => {
  const clock = new SystemClock();
  const collector = new RunningLoops();
  const worker = new RunningLoops();
  let callee: Callee;
  let database: MysqlDatabase;
  let db: SqlDb;
  let namespace: RedisNamespace;
  let container: ReturnType<typeof createContainer>;
  let api: HttpServer;

  beforeAll(async () => {
    callee = await Callee.start();
    callee.on('/ok', reply({ status: 200 }));
    callee.on('/failing', reply({ status: 503 }));
    callee.on('/hanging', stallHeaders());
    database = await createMysqlDatabase(inject('mysqlUrl'));
    namespace = new RedisNamespace(inject('redisUrl'));
    db = connectMysql(database.url, { clock });
    await migrate(db);
    const config = parseConfig(
      {
        ...{ AX_MYSQL_URL: database.url, AX_REDIS_URL: inject('redisUrl'), AX_ADMIN_TOKEN: TOKEN },
        ...{ AX_CLAIM_TTL_MS: String(CLAIM_MS), AX_DRAIN_SEC: '0' },
      },
      'all',
      false,
    );
    const metrics = new PrometheusMetrics();
    const logger = createLogger({ level: 'error', isPretty: false, node: 'node-1' });
    container = createContainer(config, { node: 'node-1', instance: 'node-1/1', version: '0.0.0' }, [
      systemModule(clock, new SystemRandom()),
      telemetryModule(logger, metrics),
      executorsModule([new HttpExecutor({ clock, version: '0.0.0' })]),
      redisModule(namespace.connect()),
      storeModule(db),
    ]);
    const app = createHttpApp({
      ...{ useCases: container.get(T.useCases), readiness: container.get(T.readiness) },
      ...{ exposition: () => metrics.exposition(), metrics, clock, logger },
    });
    api = await startHttpServer(app, '127.0.0.1', 0);
  }, 60_000);
  afterAll(async () => {
    await worker.stop();
    await collector.stop();
    await api.close();
    await callee.close();
    await db.close();
    await database.drop();
    await namespace.close();
  });

  async function call<B>(method: string, path: string, body?: unknown): Promise<{ status: number; json: B }> {
    const response = await fetch(api.address + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: JSON.parse(text === '' ? 'null' : text) as B };
  }
  async function create(id: string, path: string, fields: object = {}): Promise<void> {
    const url = path.startsWith('/') ? callee.origin + path : path;
    const task = {
      id,
      name: id,
      schedule_type: 'interval',
      interval: 86_400,
      executor: { type: 'http', url },
    };
    const { status, json } = await call('POST', '/api/tasks', { ...task, timeout_sec: 600, ...fields });
    expect(status, JSON.stringify(json)).toBe(201);
  }
  /** By hand: an event at once. Gives what `why` says of it. */
  async function run(id: string): Promise<() => Promise<Answer>> {
    const { json } = await call<{ schedule_at: number }>('POST', `/api/tasks/${id}/run`);
    return () => why(id, json.schedule_at);
  }
  const why = async (id: string, at: number) =>
    (await call<Answer>('GET', `/api/tasks/${id}/why?at=${at}`)).json;
  const becomes = (code: WhyCode, ask: () => Promise<Answer>) =>
    until(`why is ${code}`, async () => {
      const answer = await ask();
      return answer.code === code && answer;
    });

  it('names the field of what it cannot read, and has no answer for a task that never was', async () => {
    await create('known', '/ok');
    const bad = await call('GET', '/api/tasks/known/why?at=yesterday');
    expect(bad).toMatchObject({
      status: 400,
      json: { errors: [{ field: 'at', problem: 'is not an instant' }] },
    });
    const other = await call('GET', '/api/tasks/known/why?when=0');
    expect(other).toMatchObject({ status: 400, json: { errors: [{ field: 'when' }] } });
    expect(await call('GET', '/api/tasks/nobody/why')).toMatchObject({ status: 404 });
    expect((await call('GET', '/api/tasks/known/why')).json).toMatchObject({
      code: 'not_due',
      task_id: 'known',
    });
  });

  it('disabled then', async () => {
    await create('off', '/ok', { interval: 1, enabled: false });
    const { json: task } = await call<{ created_at: string }>('GET', '/api/tasks/off');
    await call('POST', '/api/tasks/off/toggle', { enabled: true });
    expect(await why('off', Date.parse(task.created_at))).toMatchObject({
      code: 'disabled',
      evidence: { disabled_until: expect.any(Number) as number },
    });
    await call('DELETE', '/api/tasks/off');
    const { evidence } = await why('off', clock.now() + 600_000);
    expect(await why('off', Number(evidence['deleted_at']))).toMatchObject({ code: 'deleted', evidence });
  });

  it('due and not decided, then missed and skipped', async () => {
    await create('missed', '/ok', { interval: 1, window_sec: 1, misfire_policy: 'skip' });
    const slot = Math.floor(clock.now() / 1000) * 1000 + 1000;
    await until('the windows of two slots to pass', () => clock.now() > slot + 2500);
    expect(await why('missed', slot)).toMatchObject({ code: 'not_decided', slot });
    await until('the verdict', async () => {
      await container.get(T.tick).turn();
      return (await why('missed', slot)).code === 'misfire_skipped';
    });
    await call('DELETE', '/api/tasks/missed');
    expect(await why('missed', slot)).toMatchObject({
      evidence: { policy: 'skip', execution: { status: 'skipped' } },
    });
  });

  it('no worker for the pool, then one that does not take it, then one that dies with it: outcome unknown', async () => {
    await create('lost', '/ok');
    const ask = await run('lost');
    const waiting = await ask();
    expect(waiting).toMatchObject({
      code: 'no_worker',
      evidence: { live_workers: 0, queue_state: 'queued' },
    });
    expect(waiting.summary).toContain('no live worker serves pool "default"');
    await container.get(T.workerRegistry).announce(buildWorker({ instance: 'node-1/1' }), LIFE_MS);
    expect((await ask()).code).toBe('not_claimed');
    const taken = await container.get(T.queue).take({
      ...{ pools: ['default'], taker: 'dying', max: 10, waitMs: 0, reclaimAfterMs: LIFE_MS },
      ...{ signal: new AbortController().signal, onPoison: () => undefined },
    });
    const delivery = taken.find(({ message }) => message.event.taskId === 'lost');
    if (delivery === undefined) throw new Error('nothing was queued');
    const { event, publishedAt } = delivery.message;
    const claim = { executionId: event.id, taskId: event.taskId, generation: 1, worker: 'dying' };
    const begun = new RunReports(claim, 0).claimed(clock.now(), publishedAt);
    const claims = container.get(T.claims);
    const answer = await claims.claim(delivery, 'dying', LIFE_MS, { begun });
    if (answer.outcome !== 'claimed') throw new Error(answer.outcome);
    expect((await ask()).code).toBe('claimed'); // No collector runs yet.
    collector.start(container.get(T.collectResults));
    const running = await becomes('running', ask);
    expect(running.evidence).toMatchObject({ worker: 'dying', is_worker_live: false });
    await claims.renew([answer.claim], 1); // Its last sign of life.
    expect((await becomes('worker_lost', ask)).summary).toContain('on dying');
    worker.start(container.get(T.workerLoop));
    expect((await becomes('outcome_unknown', ask)).summary).toContain('worker dying was lost');
  });

  it('running, and the next one skipped for overlap', async () => {
    await create('slow', '/hanging');
    const ask = await run('slow');
    const running = await becomes('running', ask);
    expect(running).toMatchObject({ evidence: { worker: 'node-1/1', attempt: 1, is_worker_live: true } });
    const second = await becomes('overlap_skipped', await run('slow'));
    expect(second.summary).toContain('max_concurrent = 1');
  });

  it('retrying, with the evidence of the attempt', async () => {
    await create('retried', '/failing', { idempotent: true, retry_count: 3, retry_interval: 600 });
    const { evidence } = await becomes('retrying', await run('retried'));
    expect(evidence['retry_at']).toBeGreaterThan(clock.now());
    expect(evidence['attempts']).toMatchObject([
      { attempt: 1, status: 'fail', evidence: { http_status: 503 } },
    ]);
  });

  it('target down', async () => {
    await create('down', 'http://127.0.0.1:1/');
    const { summary, evidence } = await becomes('failed', await run('down'));
    expect(summary).toContain('(connect)');
    expect(evidence['attempts']).toMatchObject([{ attempt: 1, reason: 'connect' }]);
  });

  it('ended and not persisted, while no collector runs, and then finished', async () => {
    await create('fine', '/ok');
    await collector.stop();
    const ask = await run('fine');
    const unread = await becomes('not_persisted', ask);
    expect(unread).toMatchObject({ evidence: { queue_state: 'finished', execution: { status: 'pending' } } });
    collector.start(container.get(T.collectResults));
    expect((await becomes('succeeded', ask)).evidence).toMatchObject({ execution: { status: 'success' } });
  });
});
