import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { HttpExecutor } from '../../src/adapters/executors/http-executor.js';
import { type HttpExecutorSpec, type HttpMethod } from '../../src/domain/executors/http-spec.js';
import { BASE } from '../support/builders.js';
import { Callee } from '../support/callee.js';
import { endlessBody, largeBody, raw, redirect, reply, stallBody } from '../support/callee-answers.js';
import { until } from '../support/until.js';
import { buildRequest, executorSuite, outcomeOf } from './executor.suite.js';

const specAt = (url: string, overrides: Partial<HttpExecutorSpec> = {}): HttpExecutorSpec => ({
  type: 'http',
  url,
  method: 'POST',
  headers: {},
  ack: 'response',
  signature: null,
  ...overrides,
});

executorSuite('HttpExecutor', async (clock) => {
  const callee = await Callee.start();
  const waiting: (() => void)[] = [];
  return {
    executor: new HttpExecutor({ clock, version: '0.0.0' }),
    peer: {
      succeeding: specAt(callee.on('/succeeding', reply({ body: 'done' }))),
      accepting: specAt(callee.on('/accepting', reply({ status: 202, body: 'begun' })), { ack: 'receipt' }),
      failing: specAt(callee.on('/failing', reply({ status: 500, body: 'no' }))),
      lasting: specAt(
        callee.on('/lasting', async (socket, request) => {
          await new Promise<void>((resolve) => waiting.push(resolve));
          await reply()(socket, request);
        }),
      ),
      complete: () => waiting.splice(0).forEach((finish) => finish()),
      begun: (executionId) =>
        callee.requests.filter(({ headers }) => headers['idempotency-key'] === executionId).length,
      atWork: () => callee.openConnections,
      close: () => callee.close(),
    },
  };
});

describe('HttpExecutor', () => {
  const executor = new HttpExecutor({ clock: new SystemClock(), version: '1.2.3' });
  let callee: Callee;

  beforeEach(async () => {
    callee = await Callee.start();
  });

  afterEach(async () => {
    await until('the callee sees every connection closed', () => callee.openConnections === 0);
    await callee.close();
  });

  const call = (url: string, timeoutMs = 20_000) =>
    outcomeOf(executor, buildRequest(specAt(url), { timeoutMs }), new AbortController().signal);

  describe('sends', () => {
    it('POST with the run in the body and in the headers, beside those of the task', async () => {
      const spec = specAt(`${callee.origin}/jobs/sync?full=1#top`, { headers: { 'X-Tenant': 'blue' } });
      const request = buildRequest(spec, { attempt: 2, params: { names: ['ä', '名'] } });
      expect((await executor.execute(request, new AbortController().signal)).status).toBe('success');
      const [seen] = callee.requests;
      expect(seen).toMatchObject({ method: 'POST', path: '/jobs/sync?full=1' });
      expect(JSON.parse(seen?.body ?? '')).toEqual({
        execution_id: request.executionId,
        task_id: 'task-1',
        schedule_at: BASE,
        fired_at: BASE + 12,
        attempt: 2,
        params: { names: ['ä', '名'] },
      });
      expect(seen?.headers).toMatchObject({
        host: `127.0.0.1:${callee.port}`,
        connection: 'close',
        'content-type': 'application/json',
        'user-agent': 'ax/1.2.3',
        'x-tenant': 'blue',
        'idempotency-key': request.executionId,
        traceparent: request.traceparent,
        'x-ax-task-id': 'task-1',
        'x-ax-execution-id': request.executionId,
        'x-ax-attempt': '2',
        'x-ax-schedule-at': String(BASE),
        'x-ax-fired-at': String(BASE + 12),
      });
      expect(seen?.headers).not.toHaveProperty('accept-encoding');
    });

    it.each<[HttpMethod, boolean]>([
      ['PUT', true],
      ['PATCH', true],
      ['GET', false],
      ['DELETE', false],
    ])('%s with a body: %s', async (method, hasBody) => {
      const spec = specAt(callee.origin, { method, headers: { 'user-agent': 'mine' } });
      await executor.execute(buildRequest(spec), new AbortController().signal);
      const [seen] = callee.requests;
      expect(seen).toMatchObject({ method, path: '/' });
      expect(seen?.headers['user-agent']).toBe('mine');
      expect(seen?.headers['idempotency-key']).toBeTypeOf('string');
      expect(seen?.body !== '').toBe(hasBody);
      expect('content-type' in (seen?.headers ?? {})).toBe(hasBody);
    });
  });

  describe('judges', () => {
    it.each([200, 201, 202, 204, 299])('%i as success', async (status) => {
      const outcome = await call(callee.on('/x', reply({ status, body: 'ok' })));
      expect(outcome).toMatchObject({ status: 'success', reason: null, evidence: { http_status: status } });
    });

    it.each([400, 404, 409, 429, 500, 503])('%i as fail', async (status) => {
      const outcome = await call(
        callee.on('/x', reply({ status, body: 'stack\ttrace\r\n\u001b[31mred\u0000' })),
      );
      expect(outcome).toMatchObject({ status: 'fail', reason: 'http_status', message: `answered ${status}` });
      expect(outcome.evidence).toMatchObject({
        http_status: status,
        bytes: 22,
        output_tail: 'stack\ttrace\n?[31mred?',
      });
    });

    it.each([301, 302, 303, 307, 308])('%i as fail, without following it', async (status) => {
      const other = await Callee.start();
      const outcome = await call(callee.on('/x', redirect(status, `${other.origin}/taken`)));
      expect(outcome).toMatchObject({
        status: 'fail',
        reason: 'redirect',
        evidence: { http_status: status, location: `${other.origin}/taken` },
      });
      expect(outcome.message).toContain(other.origin);
      expect(other.connections).toBe(0);
      await other.close();
    });

    it('304 without a Location as a redirect, too', async () => {
      const outcome = await call(callee.on('/x', reply({ status: 304 })));
      expect(outcome).toMatchObject({ status: 'fail', reason: 'redirect' });
      expect(outcome.evidence).not.toHaveProperty('location');
    });

    it('the final answer after informational ones', async () => {
      const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n';
      const outcome = await call(
        callee.on('/x', raw(`${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`)),
      );
      expect(outcome).toMatchObject({ status: 'success', evidence: { http_status: 200, output_tail: 'ok' } });
    });

    it('a body that ends with the connection as whole', async () => {
      const outcome = await call(callee.on('/x', raw('HTTP/1.1 200 OK\r\n\r\nall of it')));
      expect(outcome).toMatchObject({ status: 'success', evidence: { output_tail: 'all of it' } });
    });
  });

  describe('reads', () => {
    it('a compressed body as it is', async () => {
      const gzip = gzipSync('hello');
      const headers = { 'content-encoding': 'gzip' };
      const outcome = await call(callee.on('/x', reply({ headers, body: gzip })));
      expect(outcome).toMatchObject({
        status: 'success',
        evidence: { bytes: gzip.length, output_tail: `<binary, ${gzip.length} bytes>` },
      });
    });

    it('a large body to its end without keeping it', async () => {
      const heldMiB = () => (process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed) / (1 << 20);
      const before = heldMiB();
      let peak = before;
      const sampling = setInterval(() => (peak = Math.max(peak, heldMiB())), 5);
      const outcome = await call(callee.on('/x', largeBody(256)));
      clearInterval(sampling);
      expect(outcome).toMatchObject({ status: 'success', evidence: { bytes: 256 << 20 } });
      expect(outcome.evidence['output_tail']).toBe('x'.repeat(4096));
      expect(peak - before).toBeLessThan(128);
    });

    it('an endless body until the deadline', async () => {
      const outcome = await call(callee.on('/x', endlessBody()), 1000);
      expect(outcome).toMatchObject({
        status: 'timeout',
        reason: 'deadline',
        evidence: { phase: 'body', http_status: 200 },
      });
      expect(outcome.evidence['bytes']).toBeGreaterThan(4096);
      expect(outcome.evidence['output_tail']).toHaveLength(4096);
    });

    it('a stalled body until the deadline, and frees the connection (SO-19)', async () => {
      const outcome = await call(callee.on('/x', stallBody('partial')), 1000);
      expect(outcome).toMatchObject({
        status: 'timeout',
        reason: 'deadline',
        evidence: { phase: 'body', http_status: 200, bytes: 7, output_tail: 'partial' },
      });
      expect(outcome.message).toBe(
        'no complete response within 1000 ms; ended while reading the response body',
      );
    });
  });
});
