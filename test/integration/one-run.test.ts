import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createHttpApp } from '../../src/adapters/http/create-http-app.js';
import { type HttpServer, startHttpServer } from '../../src/adapters/http/start-http-server.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { PrometheusMetrics } from '../../src/adapters/telemetry/prometheus-metrics.js';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { parseConfig } from '../../src/main/config.js';
import { TOKENS as T } from '../../src/main/tokens.js';
import { type Queue } from '../../src/ports/queue.js';
import { Callee } from '../support/callee.js';
import { reply } from '../support/callee-answers.js';
import { Journal } from '../support/journal.js';
import { createMysqlDatabase, type MysqlDatabase } from '../support/mysql.js';
import { connectMysql } from '../support/mysql-store.js';
import { RedisNamespace } from '../support/redis-namespace.js';
import { RunningLoops } from '../support/running-loops.js';
import { until } from '../support/until.js';
import { watchedNode } from '../support/watched-node.js';

const TASK_ID = 'one-run';
const TOKEN = 'the-token-of-this-test';
const repository = new URL('../../', import.meta.url);

interface Row {
  readonly number: string;
  readonly what: string;
  readonly files: readonly string[];
}

/** The table "One run's path" of ARCHITECTURE.md. */
function readPath(): Row[] {
  const text = readFileSync(new URL('ARCHITECTURE.md', repository), 'utf8');
  const section = text.split('\n## ').find((part) => part.startsWith("One run's path")) ?? '';
  return section.split('\n').flatMap((line) => {
    const [, number, what, where] = /^\| (\d+) \| (.+) \| (.+) \|$/.exec(line) ?? [];
    if (number === undefined || what === undefined || where === undefined) return [];
    return [{ number, what, files: [...where.matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? '') }];
  });
}

interface Detail {
  readonly id: string;
  readonly status: string;
  readonly schedule_at: number;
  readonly fired_at: number;
  readonly window_end: number;
  readonly attempts: readonly {
    readonly status: string;
    readonly evidence: { readonly http_status: number };
  }[];
  readonly ledger: readonly { readonly kind: string }[];
}

describe("One run's path, as ARCHITECTURE.md tells it, on MySQL and Redis", () => {
  const rows = readPath();
  const clock = new SystemClock();
  const journal = new Journal(clock, (value) => JSON.stringify(value)?.includes(`"${TASK_ID}"`) === true);
  const loops = new RunningLoops();
  let callee: Callee;
  let database: MysqlDatabase;
  let db: SqlDb;
  let namespace: RedisNamespace;
  let api: HttpServer;
  let runAt: number;
  let run: Detail;
  /** Of the message that was published: whether its event was in the database by then. */
  let wasCommitted: boolean;

  beforeAll(async () => {
    callee = await Callee.start();
    callee.on('/job', reply({ status: 503 }));
    database = await createMysqlDatabase(inject('mysqlUrl'));
    namespace = new RedisNamespace(inject('redisUrl'));
    db = connectMysql(database.url, { clock });
    await migrate(db);
    const urls = { AX_MYSQL_URL: database.url, AX_REDIS_URL: inject('redisUrl'), AX_ADMIN_TOKEN: TOKEN };
    const config = parseConfig(urls, 'all', false);
    const container = watchedNode({ config, clock, db, redis: namespace.connect(), journal, onPublish });
    const useCases = container.get(T.useCases);
    const metrics = new PrometheusMetrics();
    const exposition = () => metrics.exposition();
    const logger = container.get(T.logger);
    const readiness = container.get(T.readiness);
    api = await startHttpServer(
      createHttpApp({ useCases, readiness, exposition, metrics, clock, logger }),
      '127.0.0.1',
      0,
    );
    loops.start(container.get(T.scheduleLoop));
    loops.start(container.get(T.workerLoop));
    loops.start(container.get(T.collectResults));
    runAt = clock.now() + 1500;
    const created = await call('POST', '/api/tasks', {
      id: TASK_ID,
      name: 'One run',
      schedule_type: 'once',
      run_at: runAt,
      executor: { type: 'http', url: `${callee.origin}/job` },
      idempotent: true,
      retry_count: 1,
      retry_interval: 1,
    });
    expect(created).toMatchObject({ id: TASK_ID });
    journal.entries.length = 0;
    await until('the first attempt', () => callee.requests.length === 1);
    callee.on('/job', reply({ status: 200 }));
    run = await until('the run in the answer of the API', async () => {
      const { items } = (await call('GET', `/api/executions?task_id=${TASK_ID}`)) as { items: Detail[] };
      const [first] = items;
      return first?.status === 'success' && ((await call('GET', `/api/executions/${first.id}`)) as Detail);
    });
  });
  afterAll(async () => {
    await loops.stop();
    await api.close();
    await callee.close();
    await db.close();
    await database.drop();
    await namespace.close();
  });

  async function onPublish(messages: Parameters<Queue['publish']>[0]): Promise<void> {
    const found = await database.query('SELECT id FROM trigger_event WHERE task_id = ?', [TASK_ID]);
    wasCommitted = messages.some(({ event }) => found.some(({ id }) => id === event.id));
  }

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(api.address + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.json();
  }

  const at = (position: number) => journal.entries[position]?.at ?? NaN;
  /** The last call of that name before the run was decided. */
  const before = (name: string) =>
    journal
      .positions(name)
      .filter((position) => position < journal.first('decide'))
      .at(-1) ?? NaN;
  const reported = () =>
    journal
      .positions('executions.apply')
      .flatMap((position) => journal.entries[position]?.args[0] as readonly ExecutionReport[]);

  /** What each row of the table says, as it can be seen from outside. */
  const checks: Readonly<Record<string, () => void | Promise<void>>> = {
    1: () => {
      expect(at(before('lock.acquire'))).toBeGreaterThanOrEqual(runAt);
      expect(run.fired_at).toBeLessThanOrEqual(run.window_end);
    },
    2: () => expect(before('lock.acquire')).toBeLessThan(before('queue.depth')),
    3: () => expect(before('queue.depth')).toBeLessThan(journal.first('decide')),
    4: async () => {
      const [row] = await database.query('SELECT next_trigger_time AS cursor_at FROM task_meta');
      expect(row).toEqual({ cursor_at: null });
      expect(wasCommitted).toBe(true);
    },
    5: () => expect(run.schedule_at).toBe(runAt),
    6: () => expect(journal.first('decide')).toBeLessThan(journal.first('queue.publish')),
    7: () => {
      expect(journal.first('queue.publish')).toBeLessThan(journal.first('claims.claim'));
      expect(journal.positions('claims.claim')).toHaveLength(1);
    },
    8: () => {
      const kinds = run.ledger.map(({ kind }) => kind);
      const retry = ['attempt_failed', 'retry_planned', 'attempt_started'];
      expect(kinds).toEqual(['triggered', 'published', 'claimed', ...retry, 'finished']);
    },
    9: () => {
      expect(journal.first('claims.claim')).toBeLessThan(journal.first('executor.execute'));
      expect(run.attempts.map(({ status, evidence }) => [status, evidence.http_status])).toEqual([
        ['fail', 503],
        ['success', 200],
      ]);
      expect(callee.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([run.id, run.id]);
    },
    10: () => {
      expect(journal.last('executor.execute')).toBeLessThan(journal.first('claims.finish'));
      expect(journal.positions('claims.finish')).toHaveLength(1);
    },
    11: () => {
      expect(journal.first('claims.finish')).toBeLessThan(journal.last('executions.apply'));
      expect(journal.last('executions.apply')).toBeLessThan(journal.last('results.acknowledge'));
      expect(reported().at(-1)).toMatchObject({ executionId: run.id, status: 'success' });
    },
    12: () => expect(run.status).toBe('success'),
  };

  it('has a check for every row', () => {
    expect(rows.map(({ number }) => number)).toEqual(Object.keys(checks));
  });

  describe.each(rows)('$number. $what', ({ number, files }) => {
    it('happens', async () => checks[number]?.());

    it('happens where the table says', () => {
      expect(files.length).toBeGreaterThan(0);
      expect(files.filter((file) => !existsSync(new URL(file, repository)))).toEqual([]);
    });
  });
});
