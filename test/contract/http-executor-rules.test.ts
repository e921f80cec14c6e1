import { createHmac } from 'node:crypto';
import { type LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EgressRules } from '../../src/adapters/executors/egress-rules.js';
import { HttpExecutor } from '../../src/adapters/executors/http-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type HttpExecutorSpec, type HttpMethod } from '../../src/domain/executors/http-spec.js';
import { type ExecutorRequest } from '../../src/ports/executor.js';
import { Callee } from '../support/callee.js';
import { reply } from '../support/callee-answers.js';
import { until } from '../support/until.js';
import { buildRequest } from './executor.suite.js';

const NOW = Date.UTC(2026, 0, 5, 3, 0, 0, 999);
const SECRET = 'a secret – Geheimnis';

/** What a worker's settings and a task's wishes make of a call: receipts, signatures, egress. */
describe('HttpExecutor', () => {
  let callee: Callee;
  beforeEach(async () => {
    callee = await Callee.start();
  });
  afterEach(async () => {
    await until('the callee sees every connection closed', () => callee.openConnections === 0);
    await callee.close();
  });

  const specAt = (url: string, overrides: Partial<HttpExecutorSpec> = {}): HttpExecutorSpec => ({
    type: 'http',
    url,
    method: 'POST',
    headers: {},
    ack: 'response',
    signature: null,
    ...overrides,
  });
  const clock = Object.assign(new SystemClock(), { now: () => NOW });
  const secrets = new Map([['ORDERS', SECRET]]);
  const run = (
    spec: HttpExecutorSpec,
    { egress, ...overrides }: Partial<ExecutorRequest<HttpExecutorSpec>> & { egress?: EgressRules } = {},
  ) =>
    new HttpExecutor({
      clock,
      version: '0.0.0',
      secrets,
      ...(egress === undefined ? {} : { egress }),
    }).execute(buildRequest(spec, overrides), new AbortController().signal);

  describe('asks for a receipt', () => {
    const receipt = { token: 'token-1', url: 'https://ax.example/api/executions/1/receipt' };
    const ask = (answer: Parameters<typeof reply>[0], at: Parameters<typeof run>[1] = { receipt }) =>
      run(specAt(callee.on('/x', reply(answer)), { ack: 'receipt' }), at);

    it('with the token and the address to send it to', async () => {
      await ask({ status: 202 });
      expect(callee.requests[0]?.headers).toMatchObject({
        'x-ax-receipt-token': receipt.token,
        'x-ax-receipt-url': receipt.url,
      });
    });

    it('with the token alone if the address is not known, and with neither if none is asked for', async () => {
      await ask({ status: 202 }, { receipt: { ...receipt, url: null } });
      await ask({ status: 202 }, { receipt: null });
      const [first, second] = callee.requests.map(({ headers }) => Object.keys(headers).join());
      expect(first).toContain('x-ax-receipt-token');
      expect(`${first} ${second}`).not.toContain('x-ax-receipt-url');
      expect(second).not.toContain('x-ax-receipt');
    });

    it.each([
      [202, { status: 'delivered' }],
      [200, { status: 'success', reason: null }],
      [204, { status: 'success', reason: null }],
      [302, { status: 'fail', reason: 'redirect' }],
      [409, { status: 'fail', reason: 'http_status' }],
      [503, { status: 'fail', reason: 'http_status' }],
    ])('and takes %i for %j', async (status, expected) => {
      const outcome = await ask({ status, body: status === 204 ? '' : 'begun' });
      expect(outcome).toMatchObject({ ...expected, evidence: { http_status: status } });
    });

    it('and takes 202 for success where no receipt is waited for', async () => {
      expect(await ask({ status: 202 }, { receipt: null })).toMatchObject({ status: 'success' });
    });
  });

  describe('signs', () => {
    const verified = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');
    const signature = { secret: 'ORDERS' };

    it.each<HttpMethod>(['POST', 'PUT', 'PATCH'])('the time and the body of %s', async (method) => {
      await run(specAt(`${callee.origin}/x?a=1`, { method, signature }), { params: 'Zoë 名' });
      const [seen] = callee.requests;
      const seconds = Math.floor(NOW / 1000);
      expect(seen?.headers['x-ax-signature']).toBe(
        `t=${seconds},v1=${verified(`${seconds}.${seen?.body ?? ''}`)}`,
      );
    });

    it.each<HttpMethod>(['GET', 'DELETE'])('the time, method and path of %s', async (method) => {
      await run(specAt(`${callee.origin}/jobs/ä?a=1#part`, { method, signature }));
      const seconds = Math.floor(NOW / 1000);
      expect(callee.requests[0]?.headers['x-ax-signature']).toBe(
        `t=${seconds},v1=${verified(`${seconds}.${method} /jobs/%C3%A4?a=1`)}`,
      );
    });

    it('nothing unless the task asks for it', async () => {
      await run(specAt(callee.origin));
      expect(callee.requests[0]?.headers).not.toHaveProperty('x-ax-signature');
    });

    it('with no secret but the one that is named, and sends nothing without it', async () => {
      const outcome = await run(specAt(callee.origin, { signature: { secret: 'BILLING' } }));
      expect(outcome).toMatchObject({
        status: 'fail',
        reason: 'configuration',
        message: 'this worker cannot sign the request: AX_SECRET_BILLING is not set',
        evidence: { variable: 'AX_SECRET_BILLING' },
      });
      expect(JSON.stringify(outcome)).not.toContain(SECRET);
      expect(callee.connections).toBe(0);
    });
  });

  describe('connects only where the rules of egress let it', () => {
    const denying = (...deny: string[]) => new EgressRules({ allow: [], deny });

    it('denied by its address: fail, egress_denied, and nothing was opened', async () => {
      const outcome = await run(specAt(callee.origin), { egress: denying('127.0.0.0/8') });
      expect(outcome).toMatchObject({
        status: 'fail',
        reason: 'egress_denied',
        message: 'connecting to 127.0.0.1 is denied: AX_HTTP_DENY has 127.0.0.0/8',
        evidence: { host: '127.0.0.1', address: '127.0.0.1', rule: '127.0.0.0/8' },
      });
      expect(callee.connections).toBe(0);
    });

    it.each(['127.1', '2130706433', '0x7f.0.0.1', '[::ffff:127.0.0.1]'])(
      'also when the address is written as %s',
      async (host) => {
        const outcome = await run(specAt(`http://${host}:${callee.port}/`), { egress: denying('127.0.0.1') });
        expect(outcome).toMatchObject({ reason: 'egress_denied' });
        expect(callee.connections).toBe(0);
      },
    );

    it('denied by what its name resolves to', async () => {
      const egress = denying('127.0.0.0/8', '::1');
      for (const scheme of ['http', 'https']) {
        const outcome = await run(specAt(`${scheme}://localhost:${callee.port}/`), { egress });
        expect(outcome).toMatchObject({ reason: 'egress_denied', evidence: { host: 'localhost' } });
      }
      expect(callee.connections).toBe(0);
    });

    it('resolves a name once for each connection, so the address that was judged is the one it connects to', async () => {
      const answers: LookupAddress[][] = [
        [{ address: '127.0.0.1', family: 4 }],
        [{ address: '169.254.169.254', family: 4 }],
      ];
      const egress = new EgressRules({ allow: [], deny: [] }, (_host, _options, callback) =>
        callback(null, answers.shift() ?? []),
      );
      const spec = specAt(`http://rebinding.example:${callee.port}/`);
      expect(await run(spec, { egress })).toMatchObject({ status: 'success' });
      expect(answers).toHaveLength(1);
      expect(await run(spec, { egress })).toMatchObject({
        reason: 'egress_denied',
        evidence: { host: 'rebinding.example', address: '169.254.169.254', rule: '169.254.0.0/16' },
      });
      expect(callee.requests[0]?.headers['host']).toBe(`rebinding.example:${callee.port}`);
    });

    it('passes over denied addresses of a name that has others', async () => {
      const found: LookupAddress[] = [
        { address: '169.254.169.254', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ];
      const egress = new EgressRules({ allow: ['mixed.example'], deny: [] }, (_host, _options, callback) =>
        callback(null, found),
      );
      const outcome = await run(specAt(`http://mixed.example:${callee.port}/`), { egress });
      expect(outcome).toMatchObject({ status: 'success' });
    });

    it('calls nobody whom the allowed do not name, and those whom they name', async () => {
      const egress = new EgressRules({ allow: ['10.0.0.0/8'], deny: [] });
      expect(await run(specAt(callee.origin), { egress })).toMatchObject({
        reason: 'egress_denied',
        evidence: { rule: 'AX_HTTP_ALLOW' },
      });
      const open = new EgressRules({ allow: ['localhost'], deny: [] });
      expect(await run(specAt(`http://localhost:${callee.port}/`), { egress: open })).toMatchObject({
        status: 'success',
      });
    });

    it('calls no metadata service unless told otherwise', async () => {
      for (const host of ['169.254.169.254', '[fd00:ec2::254]', '[::ffff:a9fe:a9fe]', '100.100.100.200'])
        expect(await run(specAt(`http://${host}/latest/meta-data/`))).toMatchObject({
          reason: 'egress_denied',
        });
    });
  });
});
