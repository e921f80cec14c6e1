import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpExecutor } from '../../../../src/adapters/executors/http-executor.js';
import { httpRequestOf } from '../../../../src/adapters/executors/http-request.js';
import { SystemClock } from '../../../../src/adapters/system/system-clock.js';
import { executorProblems } from '../../../../src/domain/executor-spec.js';
import { type HttpExecutorSpec } from '../../../../src/domain/executors/http-spec.js';
import { buildRequest } from '../../../contract/executor.suite.js';
import { Callee } from '../../../support/callee.js';
import { until } from '../../../support/until.js';

describe('what the domain lets through', () => {
  let callee: Callee;
  beforeAll(async () => void (callee = await Callee.start()));
  afterAll(() => callee.close());

  const spec = (headers: Record<string, string>, path = '/x'): HttpExecutorSpec => ({
    type: 'http',
    url: callee.origin + path,
    method: 'POST',
    headers,
    ack: 'response',
    signature: null,
  });
  const executor = new HttpExecutor({ clock: new SystemClock(), version: '0.0.0' });
  const execute = (sent: HttpExecutorSpec) =>
    executor.execute(buildRequest(sent), new AbortController().signal);

  it('can be sent, whatever the headers', async () => {
    const value = fc.string({
      unit: fc.integer({ min: 0, max: 0x17f }).map(String.fromCharCode),
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[!-~]{1,8}$/), value, async (name, text) => {
        const sent = spec({ [name]: text });
        fc.pre(executorProblems(sent).length === 0);
        expect((await execute(sent)).status).toBe('success');
        expect(callee.requests.at(-1)?.headers[name.toLowerCase()]).toBe(text.trim());
      }),
      { numRuns: 50 },
    );
  });

  it('is nothing that a header line cannot carry; as a stored row it is a bug, not an answer of the target', async () => {
    for (const text of ['名', 'a\nb', 'a\u0000b', '\u007f']) {
      const sent = spec({ 'X-A': text });
      expect(executorProblems(sent).map(({ field }) => field)).toEqual(['executor.headers.X-A']);
      await expect(execute(sent)).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' });
    }
    await until('nothing is left', () => callee.openConnections === 0);
  });

  it('can be sent, whatever the path and query', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 30 }), async (text) => {
        const sent = spec({}, `/${text}`);
        fc.pre(executorProblems(sent).length === 0);
        expect((await execute(sent)).status).toBe('success');
      }),
      { numRuns: 50 },
    );
  });
});

describe('the call of a hook', () => {
  it('has a key and a body of its own, so that no callee takes it for the attempt', () => {
    const url = 'http://callee/ready';
    const http = { url, method: 'POST', headers: {}, ack: 'response', signature: null } as const;
    const request = { ...buildRequest({ type: 'http', ...http }), attempt: 2 };
    const hook = { kind: 'pre', key: `${request.executionId}:pre:2`, body: { hook: 'pre' } } as const;
    const sent = httpRequestOf({ ...request, hook }, '0.0.0');
    expect(sent.headers).toMatchObject({
      'Idempotency-Key': hook.key,
      'X-Ax-Hook': 'pre',
      'X-Ax-Attempt': '2',
    });
    expect(sent.body).toBe('{"hook":"pre"}');
    const attempt = httpRequestOf(request, '0.0.0');
    expect(attempt.headers['Idempotency-Key']).toBe(request.executionId);
    expect(attempt.headers).not.toHaveProperty('X-Ax-Hook');
  });
});
