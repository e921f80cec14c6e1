import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createHttpApp } from '../../src/adapters/http/create-http-app.js';
import { type HttpServer, startHttpServer } from '../../src/adapters/http/start-http-server.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { PrometheusMetrics } from '../../src/adapters/telemetry/prometheus-metrics.js';
import { createLogger } from '../../src/adapters/telemetry/pino-logger.js';
import { HttpExecutor } from '../../src/adapters/executors/http-executor.js';
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
import { MAX_RECEIPTS, type Receipts } from '../../src/ports/receipts.js';
import { buildReport } from '../support/builders.js';
import { createMysqlDatabase, type MysqlDatabase } from '../support/mysql.js';
import { connectMysql } from '../support/mysql-store.js';
import { RedisNamespace, silent } from '../support/redis-namespace.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const API_TOKEN = 'the-token-of-this-test';
const KEEP_MS = 600_000;
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

describe('POST /api/executions/{id}/receipt, on MySQL and Redis', () => {
  let database: MysqlDatabase;
  let db: SqlDb;
  let namespace: RedisNamespace;
  let proxy: TcpProxy;
  let api: HttpServer;
  /** Of the node behind the proxy, and of a worker with a good connection. */
  let receipts: Receipts;
  let finish: (executionId: string) => Promise<void>;
  /** A run that goes on, whose attempt 1 waits for receipts with `token-1`. */
  let id: string;

  beforeAll(async () => {
    const clock = new SystemClock();
    database = await createMysqlDatabase(inject('mysqlUrl'));
    namespace = new RedisNamespace(inject('redisUrl'));
    proxy = await TcpProxy.start(inject('redisUrl'));
    db = connectMysql(database.url, { clock });
    await migrate(db);
    const urls = { AX_MYSQL_URL: database.url, AX_REDIS_URL: inject('redisUrl'), AX_ADMIN_TOKEN: API_TOKEN };
    const config = parseConfig(urls, 'all', false);
    const container = createContainer(config, { node: 'node-1', instance: 'node-1/1', version: '0.0.0' }, [
      systemModule(clock, new SystemRandom()),
      telemetryModule(
        createLogger({ level: 'error', isPretty: false, node: 'node-1' }),
        new PrometheusMetrics(),
      ),
      executorsModule([new HttpExecutor({ clock, version: '0.0.0' })]),
      redisModule(namespace.connect(proxy.through(inject('redisUrl')))),
      storeModule(db),
    ]);
    const parts = { metrics: container.get(T.metrics), logger: silent, clock };
    const exposition = async () => ({ contentType: 'text/plain', body: '' });
    const useCases = container.get(T.useCases);
    const app = createHttpApp({ useCases, readiness: useCases.readiness, exposition, ...parts });
    api = await startHttpServer(app, '127.0.0.1', 0);
    receipts = container.get(T.receipts);
    finish = async (executionId) => {
      await container
        .get(T.executions)
        .apply([buildReport({ executionId, taskId: 'job', status: 'success', finishedAt: clock.now() })]);
    };
    const authorization = `Bearer ${API_TOKEN}`;
    const task = {
      id: 'job',
      name: 'job',
      schedule_type: 'interval',
      interval: 3600,
      executor: { type: 'http', url: 'http://127.0.0.1:9/', ack: 'receipt' },
    };
    expect((await send('/api/tasks', task, { authorization })).status).toBe(201);
  });
  afterAll(async () => {
    await api.close(0);
    await namespace.close();
    await proxy.close();
    await db.close();
    await database.drop();
  });
  beforeEach(async () => {
    const { json } = await send('/api/tasks/job/run', {}, { authorization: `Bearer ${API_TOKEN}` });
    id = String(json['id']);
    await openWait(1);
  });

  const openWait = (attempt: number, executionId = id) =>
    receipts.open({ executionId, attempt, tokenHash: hashOf(`token-${attempt}`), keepMs: KEEP_MS });
  async function send(path: string, body: unknown, headers: Record<string, string>) {
    const response = await fetch(api.address + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const json = (await response.json()) as Readonly<Record<string, unknown>>;
    return { status: response.status, headers: response.headers, json };
  }
  const post = (body: unknown, token = 'token-1', of = id) =>
    send(`/api/executions/${of}/receipt`, body, { 'x-ax-receipt-token': token });
  const came = async () => (await receipts.read([id]))[0]?.map(({ kind, message }) => [kind, message]);
  /** Posts and expects a problem document of this status, and that nothing changed. */
  async function refused(status: number, answering: ReturnType<typeof send>) {
    const before = await came();
    const { json, headers, ...answer } = await answering;
    expect(answer.status, JSON.stringify(json)).toBe(status);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(await came()).toEqual(before);
    return { detail: String(json['detail']), errors: json['errors'], code: json['code'], headers };
  }

  it('takes progress and then the end, and hands both to whoever waits', async () => {
    const progress = await post({ status: 'progress', message: 'half – „½“' });
    expect(progress).toMatchObject({
      status: 202,
      json: { execution_id: id, status: 'progress', accepted: true },
    });
    const headers = { authorization: 'Bearer token-1' };
    expect((await send(`/api/executions/${id}/receipt`, { status: 'fail' }, headers)).status).toBe(202);
    expect(await came()).toEqual([
      ['progress', 'half – „½“'],
      ['fail', null],
    ]);
  });

  it('accepts one of 20 that end it, and tells the others that they are second', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => post({ status: i % 2 ? 'success' : 'fail', message: `${i}` })),
    );
    const accepted = answers.flatMap(({ status }, i) => (status === 202 ? [`${i}`] : []));
    expect(accepted).toHaveLength(1);
    for (const { status, json } of answers.filter((answer) => answer.status !== 202)) {
      expect(status).toBe(409);
      expect(json['detail']).toMatch(/has got the receipt that ends it already/);
    }
    expect((await came())?.map(([, message]) => message)).toEqual(accepted);
  });

  it('needs a token, and prefers the header of its own', async () => {
    const path = `/api/executions/${id}/receipt`;
    const { errors, headers } = await refused(401, send(path, { status: 'success' }, {}));
    expect(errors).toMatchObject([{ field: 'X-Ax-Receipt-Token' }]);
    expect(headers.get('www-authenticate')).toContain('Bearer');
    await refused(401, send(path, { status: 'success' }, { authorization: 'Basic dG9rZW4tMQ==' }));
    await refused(401, post({ status: 'success' }, ''));
    const both = { authorization: 'Bearer of-a-gateway', 'x-ax-receipt-token': 'token-1' };
    expect((await send(path, { status: 'success' }, both)).status).toBe(202);
  });

  it('lets nobody in with another token: of another execution, of the API, or none that exists', async () => {
    const { json } = await send('/api/tasks/job/run', {}, { authorization: `Bearer ${API_TOKEN}` });
    const other = String(json['id']);
    const tokenHash = hashOf('token-other');
    await receipts.open({ executionId: other, attempt: 1, tokenHash, keepMs: KEEP_MS });
    const details = new Set<string>();
    for (const token of ['token-other', API_TOKEN, 'nonsense', hashOf('token-1'), 'x'.repeat(5000)]) {
      details.add((await refused(403, post({ status: 'success' }, token))).detail);
    }
    // The answer tells nothing of which token it was, nor of what is waited for.
    expect(details.size).toBe(1);
    expect(await receipts.read([other])).toEqual([[]]);
    await receipts.close(id, KEEP_MS);
    expect(details).toContain((await refused(403, post({ status: 'success' }, 'nonsense'))).detail);
  });

  it.each([
    ['no status', {}, 'status'],
    ['another status', { status: 'done' }, 'status'],
    ['a status of ax', { status: 'timeout' }, 'status'],
    ['a long message', { status: 'fail', message: 'x'.repeat(1001) }, 'message'],
    ['a line break', { status: 'fail', message: 'a\nb' }, 'message'],
    ['a control character', { status: 'progress', message: '\u001b[31m' }, 'message'],
    ['a line separator', { status: 'progress', message: 'a\u2028b' }, 'message'],
    ['half a character', { status: 'fail', message: '\ud800' }, 'message'],
    ['a message that is no text', { status: 'fail', message: 7 }, 'message'],
    ['a field too many', { status: 'fail', error: 'x' }, 'error'],
    ['no object', 'success', 'body'],
  ])('refuses %s and names the field', async (_what, body, field) => {
    expect((await refused(400, post(body))).errors).toMatchObject([{ field }]);
    expect((await post({ status: 'success', message: 'x'.repeat(1000) })).status).toBe(202);
  });

  it('refuses too much progress, and still takes the end', async () => {
    for (let n = 1; n < MAX_RECEIPTS; n += 1) await post({ status: 'progress', message: `${n}` });
    const { detail } = await refused(409, post({ status: 'progress' }));
    expect(detail).toMatch(/100 receipts of progress/);
    expect((await post({ status: 'success' })).status).toBe(202);
  });

  it('tells a receipt of an earlier attempt, and one that is late, what they are', async () => {
    await openWait(2);
    expect((await refused(409, post({ status: 'success' }))).detail).toMatch(/a later one waits/);
    await receipts.close(id, KEEP_MS);
    expect((await refused(409, post({ status: 'success' }, 'token-2'))).detail).toMatch(/any more/);
  });

  it('knows no execution that there is not', async () => {
    for (const unknown of ['00000000-0000-7000-8000-000000000000', 'no%20id', 'x'.repeat(65)]) {
      expect((await refused(404, post({ status: 'success' }, 'token-1', unknown))).code).toBe('not_found');
    }
  });

  it('after a loss of data: to be sent again while the run goes on, late once it has ended', async () => {
    await namespace.empty();
    const { headers, code, detail } = await refused(503, post({ status: 'success' }));
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect([code, detail]).toEqual(['not_ready', expect.stringContaining('send it again later')]);
    await openWait(1);
    expect((await post({ status: 'success' })).status).toBe(202);
    await namespace.empty();
    await finish(id);
    expect((await refused(409, post({ status: 'success' }))).detail).toMatch(/any more/);
  });

  it('while Redis is away: to be sent again', async () => {
    proxy.cut();
    const { status, headers, json } = await post({ status: 'success' });
    expect([status, json['code']]).toEqual([503, 'unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    proxy.restore();
    await until('the receipt', async () => (await post({ status: 'success' })).status === 202);
  });

  it('is not read, changed or deleted', async () => {
    const response = await fetch(`${api.address}/api/executions/${id}/receipt`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
