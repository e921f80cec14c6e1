import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { callSpan } from '../../../../src/adapters/telemetry/call-span.js';
import { type HttpExecutorSpec } from '../../../../src/domain/executors/http-spec.js';
import { type MqExecutorSpec } from '../../../../src/domain/executors/mq-spec.js';
import { type ExecutorSpec } from '../../../../src/domain/executor-spec.js';
import { type ExecutorRequest } from '../../../../src/ports/executor.js';

const HTTP: HttpExecutorSpec = {
  ...{ type: 'http', method: 'POST', headers: { authorization: 'hush' }, ack: 'response', signature: null },
  url: 'https://me:hush@callee.example/jobs/7?key=hush&n=hush#hush',
};
const MQ: MqExecutorSpec = {
  ...{
    type: 'mq',
    broker: 'default',
    exchange: '',
    routingKey: 'jobs',
    headers: { key: 'hush' },
    ack: 'delivered',
  },
};
const SHELL: ExecutorSpec = {
  ...{
    type: 'shell',
    run: { command: 'echo hush' },
    cwd: null,
    env: { KEY: 'hush' },
    user: null,
    container: null,
  },
};
const request = (spec: ExecutorSpec, attempt = 1): ExecutorRequest => ({
  ...{
    executionId: 'e-1',
    taskId: 't-1',
    spec,
    params: 'hush',
    slot: 1,
    firedAt: 1,
    attempt,
    timeoutMs: 1000,
  },
  ...{ traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  receipt: { token: 'hush', url: null },
});
const outcome = (evidence: Readonly<Record<string, string | number>>) =>
  ({ status: 'fail', reason: 'http_status', message: null, evidence }) as const;

describe('callSpan', () => {
  const spans = [
    callSpan(request(HTTP, 3), outcome({ http_status: 503, bytes: 12 })),
    callSpan(request(MQ), { ...outcome({ bytes: 7 }), reason: 'unroutable' }),
    callSpan(request(SHELL), { ...outcome({ exit_code: 2 }), reason: 'exit_code' }),
  ];

  it('has no secret of a request', () => {
    expect(JSON.stringify(spans)).not.toContain('hush');
    expect(spans[0]?.attributes['url.full']).toBe(
      'https://REDACTED:REDACTED@callee.example/jobs/7?key=REDACTED&n=REDACTED',
    );
  });

  it('says what each technology has to say', () => {
    expect(spans[0]).toMatchObject({
      ...{ name: 'POST', kind: 'client', error: { type: '503' } },
      attributes: { 'server.address': 'callee.example', 'server.port': 443, 'http.request.resend_count': 2 },
    });
    expect(spans[1]).toMatchObject({
      ...{ name: 'publish jobs', kind: 'producer', error: { type: 'unroutable' } },
      attributes: { 'messaging.destination.name': 'jobs', 'messaging.message.id': 'e-1' },
    });
    expect(spans[2]).toMatchObject({ kind: 'internal', attributes: { 'process.exit.code': 2 } });
    const { exchange, ...both } = { ...MQ, exchange: 'shop' };
    expect(callSpan(request({ ...both, exchange }), outcome({})).name).toBe('publish shop:jobs');
    expect(callSpan(request(HTTP), { status: 'delivered', evidence: {} }).error).toBeUndefined();
  });

  it('takes every name that is not of ax from the semantic conventions', () => {
    const known = new Set<unknown>(Object.values(conventions));
    const names = spans.flatMap(({ attributes }) => Object.keys(attributes));
    expect(names.filter((name) => !name.startsWith('ax.') && !known.has(name))).toEqual([]);
  });
});
