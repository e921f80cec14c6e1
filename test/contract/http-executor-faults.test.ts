import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpExecutor } from '../../src/adapters/executors/http-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type HttpExecutorSpec } from '../../src/domain/executors/http-spec.js';
import { Callee, type CalleeOptions } from '../support/callee.js';
import { raw, replyThenClose, stallHeaders } from '../support/callee-answers.js';
import { openFullBacklog } from '../support/full-backlog.js';
import { until } from '../support/until.js';
import { buildRequest, outcomeOf } from './executor.suite.js';

const pem = (file: string) => readFileSync(new URL(`../support/tls/${file}`, import.meta.url), 'utf8');
const TLS = { key: pem('self-signed.key.pem'), cert: pem('self-signed.cert.pem') };

const postTo = (url: string): HttpExecutorSpec => ({
  type: 'http',
  url,
  method: 'POST',
  headers: {},
  ack: 'response',
  signature: null,
});

describe('HttpExecutor and a callee at fault', () => {
  const clock = new SystemClock();
  const executor = new HttpExecutor({ clock, version: '0.0.0' });
  const callees: Callee[] = [];

  async function start(options: CalleeOptions = {}): Promise<Callee> {
    const callee = await Callee.start(options);
    callees.push(callee);
    return callee;
  }

  let callee: Callee;
  beforeEach(async () => {
    callee = await start();
  });

  afterEach(async () => {
    for (const peer of callees.splice(0)) {
      await until('the callee sees every connection closed', () => peer.openConnections === 0);
      await peer.close();
    }
  });

  const call = (url: string, timeoutMs = 20_000, signal = new AbortController().signal) =>
    outcomeOf(executor, buildRequest(postTo(url), { timeoutMs }), signal);

  describe('before the request is out', () => {
    it('refused: fail, connect', async () => {
      const gone = await Callee.start();
      const { origin } = gone;
      await gone.close();
      const outcome = await call(origin);
      expect(outcome).toMatchObject({
        status: 'fail',
        reason: 'connect',
        evidence: { phase: 'connect', error_code: 'ECONNREFUSED' },
      });
      expect(outcome.message).toContain('ECONNREFUSED');
    });

    it('refused on every address of its name: the first error speaks', async () => {
      const gone = await Callee.start();
      const { port } = gone;
      await gone.close();
      const outcome = await call(`http://localhost:${port}`);
      expect(outcome).toMatchObject({ reason: 'connect', evidence: { error_code: 'ECONNREFUSED' } });
      expect(outcome.message).toContain('ECONNREFUSED');
    });

    it('no such name: fail, dns', async () => {
      const outcome = await call('http://callee.invalid/x');
      expect(outcome).toMatchObject({ status: 'fail', reason: 'dns', evidence: { phase: 'dns' } });
      expect(outcome.evidence['error_code']).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/);
    });

    it('neither connected nor refused: ends at the deadline, and at once on an abort', async () => {
      const silent = await openFullBacklog();
      const url = `http://127.0.0.1:${silent.port}`;
      expect(await call(url, 300)).toMatchObject({
        status: 'timeout',
        reason: 'deadline',
        evidence: { phase: 'connect' },
      });
      const controller = new AbortController();
      const outcome = call(url, 600_000, controller.signal);
      await delay(50);
      controller.abort('claim_lost');
      expect(await outcome).toMatchObject({ reason: 'claim_lost', evidence: { phase: 'connect' } });
      await silent.close();
    });

    it.each([
      ['hangs up on every connection', (greet: { end(): void }) => greet.end()],
      [
        'speaks first and not HTTP',
        (greet: { write(text: string): void }) => greet.write('SSH-2.0-OpenSSH_9.2\r\n'),
      ],
    ])('%s: fail, network, after one connection', async (_what, greet) => {
      const rude = await start({ greet });
      expect(await call(rude.origin, 10_000)).toMatchObject({ status: 'fail', reason: 'network' });
      expect(rude.connections).toBe(1);
    });
  });

  describe('over TLS', () => {
    it('answers like any other once its certificate is trusted', async () => {
      const secure = await start({ tls: TLS });
      const trusting = new HttpExecutor({ clock, version: '0.0.0', ca: TLS.cert });
      const outcome = await trusting.execute(
        buildRequest(postTo(`${secure.origin}/x`)),
        new AbortController().signal,
      );
      expect(outcome).toMatchObject({ status: 'success', evidence: { http_status: 200 } });
      const misnamed = await trusting.execute(
        buildRequest(postTo(`https://localhost:${secure.port}`)),
        new AbortController().signal,
      );
      expect(misnamed).toMatchObject({
        reason: 'tls',
        evidence: { error_code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      });
      expect(secure.requests).toHaveLength(1);
    });

    it('with a certificate of nobody trusted: fail, tls, and nothing was sent', async () => {
      const secure = await start({ tls: TLS });
      expect(await call(secure.origin)).toMatchObject({
        status: 'fail',
        reason: 'tls',
        evidence: { phase: 'tls', error_code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
      });
      expect(secure.requests).toHaveLength(0);
    });

    it('on a port that speaks plain text: fail, tls', async () => {
      const plain = await start({ greet: (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') });
      const outcome = await call(`https://127.0.0.1:${plain.port}`);
      expect(outcome).toMatchObject({ status: 'fail', reason: 'tls', evidence: { phase: 'tls' } });
    });

    it('on a port that says nothing: the deadline covers the handshake', async () => {
      expect(await call(`https://127.0.0.1:${callee.port}`, 300)).toMatchObject({
        status: 'timeout',
        evidence: { phase: 'tls' },
      });
    });
  });

  describe('while it answers', () => {
    it('says nothing: timeout while waiting for the response', async () => {
      expect(await call(callee.on('/x', stallHeaders()), 1000)).toMatchObject({
        status: 'timeout',
        reason: 'deadline',
        evidence: { phase: 'headers' },
      });
    });

    const HEAD = 'HTTP/1.1 200 OK\r\n';
    it.each<[what: string, text: string, then: 'stay' | 'end' | 'reset', phase: string]>([
      ['resets before any byte', '', 'reset', 'headers'],
      ['closes before any byte', '', 'end', 'headers'],
      ['resets in the middle of the headers', `${HEAD}content-le`, 'reset', 'headers'],
      ['closes in the middle of the headers', `${HEAD}content-le`, 'end', 'headers'],
      ['resets in the middle of the body', `${HEAD}content-length: 9\r\n\r\nhalf`, 'reset', 'body'],
      ['closes before the promised length', `${HEAD}content-length: 9\r\n\r\nhalf`, 'end', 'body'],
      [
        'closes before the last chunk',
        `${HEAD}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`,
        'end',
        'body',
      ],
      ['resets a body that has no length', `${HEAD}\r\nhalf`, 'reset', 'body'],
      ['breaks the chunk format', `${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`, 'stay', 'body'],
      ['does not speak HTTP', 'hello\r\n\r\n', 'stay', 'headers'],
      ['answers with a broken header', `${HEAD}no colon here\r\n\r\n`, 'stay', 'headers'],
      ['sends headers without measure', `${HEAD}x: ${'y'.repeat(100_000)}\r\n\r\n`, 'stay', 'headers'],
      [
        'switches to another protocol',
        'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
        'stay',
        'headers',
      ],
    ])('%s: fail, network, and the request is not sent again', async (_what, text, then, phase) => {
      const outcome = await call(callee.on('/x', raw(text, then)));
      expect(outcome).toMatchObject({ status: 'fail', reason: 'network', evidence: { phase } });
      expect(outcome.evidence['error_code']).toBeTypeOf('string');
      expect(outcome.message).toMatch(/^.+$/);
      expect(callee.requests).toHaveLength(1);
    });

    it('closes each connection 50 ms after answering: every call succeeds and is seen once (SO-21)', async () => {
      const url = callee.on('/x', replyThenClose(50));
      for (let n = 0; n < 60; n += 1) {
        expect((await call(url)).status).toBe('success');
        await delay(46 + (n % 8));
      }
      expect(callee.requests).toHaveLength(60);
      expect(new Set(callee.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(60);
      expect(new Set(callee.requests.map(({ connection }) => connection)).size).toBe(60);
    });
  });
});
