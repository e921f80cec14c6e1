import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpApp } from '../../../../src/adapters/http/create-http-app.js';
import { type HttpServer, startHttpServer } from '../../../../src/adapters/http/start-http-server.js';
import { Readiness } from '../../../../src/application/readiness.js';
import { type UseCases } from '../../../../src/application/use-cases.js';
import { AxError } from '../../../../src/domain/errors.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';
import { until } from '../../../support/until.js';

/** What is not about tasks or executions; the use cases are stand-ins that do one thing. */
describe('the HTTP app', () => {
  const TOKEN = { authorization: 'Bearer right' };
  let clock: FakeClock;
  let readiness: Readiness;
  let metrics: RecordingMetrics;
  let logger: RecordingLogger;
  let server: HttpServer;
  /** What `queryTasks.find` does. */
  let find: (id: string) => Promise<unknown>;

  beforeEach(async () => {
    clock = new FakeClock();
    readiness = new Readiness(clock, 1000);
    metrics = new RecordingMetrics();
    logger = new RecordingLogger();
    const useCases = {
      queryTasks: { find: async (id: string) => find(id) },
      queryWorkers: { live: async () => null },
      authenticate: { actorOf: async (token: string) => (token === 'right' ? 'admin' : null) },
    } as unknown as UseCases;
    server = await serve(useCases);
  });
  afterEach(async () => server.close(0));

  const serve = async (useCases: UseCases | null) => {
    const exposition = async () => ({ contentType: 'text/plain; version=0.0.4', body: 'ax_leader 1\n' });
    const app = createHttpApp({ useCases, readiness, exposition, metrics, clock, logger });
    return startHttpServer(app, '127.0.0.1', 0);
  };
  const call = async (path: string, init: RequestInit = {}) => fetch(`${server.address}${path}`, init);
  const problem = async (response: Response) => {
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    return (await response.json()) as Record<string, unknown>;
  };

  it('says that the process is alive', async () => {
    const response = await call('/healthz?from=probe');
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('is ready when every part is, and says which is not', async () => {
    readiness.expect('tick');
    const before = await call('/readyz');
    expect([before.status, await before.json()]).toEqual([
      503,
      { status: 'not_ready', parts: [{ part: 'tick', ready: false, problem: 'has not started yet' }] },
    ]);
    readiness.good('tick');
    const after = await call('/readyz');
    expect([after.status, await after.json()]).toEqual([
      200,
      { status: 'ready', parts: [{ part: 'tick', ready: true, problem: null }] },
    ]);
  });

  it('shows the metrics as they are written', async () => {
    const response = await call('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4');
    expect(await response.text()).toBe('ax_leader 1\n');
  });

  it('serves probes and nothing else in a process without use cases', async () => {
    const worker = await serve(null);
    try {
      expect((await fetch(`${worker.address}/healthz`)).status).toBe(200);
      expect((await fetch(`${worker.address}/api/tasks`, { headers: TOKEN })).status).toBe(404);
    } finally {
      await worker.close(0);
    }
  });

  it.each([undefined, 'Bearer wrong', 'Bearer', 'Basic cmlnaHQ=', 'right'])(
    'lets nobody in with the Authorization %s',
    async (authorization) => {
      find = async () => expect.unreachable();
      const response = await call('/api/tasks/a', { headers: authorization ? { authorization } : {} });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="ax"/);
      expect(await problem(response)).toMatchObject({
        code: 'unauthorized',
        errors: [{ field: 'Authorization' }],
      });
    },
  );

  it('asks for the token before it says whether a route exists', async () => {
    expect((await call('/api/nothing')).status).toBe(401);
    expect((await call('/api/nothing', { headers: TOKEN })).status).toBe(404);
    expect((await call('/API/tasks', { headers: TOKEN })).status).toBe(404);
    expect((await call('/nothing')).status).toBe(404);
  });

  it.each([
    ['DELETE', '/api/tasks', 'GET, HEAD, POST'],
    ['PATCH', '/api/tasks/a', 'GET, HEAD, PUT, DELETE'],
    ['GET', '/api/tasks/a/run', 'POST'],
    ['OPTIONS', '/api/executions', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
  ])('answers %s %s with the methods that are possible', async (method, path, allow) => {
    const response = await call(path, { method, headers: TOKEN });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    expect(await problem(response)).toMatchObject({ code: 'method_not_allowed' });
  });

  it('protects its answers and hides what they were made with', async () => {
    for (const path of ['/healthz', '/nothing', '/api/tasks']) {
      const { headers } = await call(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  it('logs what broke and tells the caller nothing of it', async () => {
    const error = new Error('password is hunter2');
    find = async () => Promise.reject(error);
    const response = await call('/api/tasks/a', { headers: TOKEN });
    expect(response.status).toBe(500);
    const document = await problem(response);
    expect(document).toMatchObject({ code: 'internal_error', status: 500 });
    expect(JSON.stringify(document)).not.toContain('hunter2');
    expect(logger.lines).toEqual([
      ['error', { err: error, method: 'GET', route: '/api/tasks/{id}', status: 500 }, 'request failed'],
    ]);
  });

  it('asks to come back when a store is away', async () => {
    find = async () => Promise.reject(new AxError('unavailable', 'connect ECONNREFUSED 10.0.0.7:3306'));
    const response = await call('/api/tasks/a', { headers: TOKEN });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(JSON.stringify(await problem(response))).not.toContain('10.0.0.7');
  });

  it('measures requests by route pattern, never by path', async () => {
    find = async () => Promise.reject(new AxError('not_found', 'there is no task'));
    await call('/api/tasks/a', { headers: TOKEN });
    await call('/api/tasks/b', { headers: TOKEN, method: 'HEAD' });
    await call('/api/tasks/a', { headers: TOKEN, method: 'PROPFIND' });
    await call('/some/path/of/a/scanner');
    const seen = await until('four observations', () => (metrics.seen.length === 4 ? metrics.seen : null));
    const of = (method: string, route: string, status: string) => ({
      name: 'http_request_duration_seconds',
      labels: { method, route, status },
      value: 0,
    });
    expect(seen).toEqual([
      of('GET', '/api/tasks/{id}', '404'),
      of('HEAD', '/api/tasks/{id}', '404'),
      of('other', '/api/tasks/{id}', '405'),
      of('GET', 'unmatched', '404'),
    ]);
  });

  it('survives a client that goes away before the answer', async () => {
    let answer: (value: unknown) => void = () => undefined;
    find = async () => new Promise((resolve) => (answer = resolve));
    const { hostname, port } = new URL(server.address);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /api/tasks/a HTTP/1.1\r\nHost: ax\r\nAuthorization: ${TOKEN.authorization}\r\n\r\n`);
    await until('the request is in flight', () => answer.length > 0 || null);
    socket.destroy();
    await until('the request is measured', () => metrics.seen.length === 1);
    answer({ id: 'a', name: 'a', group: 'g', isEnabled: true, version: 1, error: 'x' });
    expect(metrics.seen[0]?.labels).toMatchObject({ status: 'aborted' });
    expect((await call('/healthz')).status).toBe(200);
    expect(logger.lines).toEqual([]);
  });
});
