import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { reply } from '../support/callee-answers.js';
import { Cluster } from '../support/cluster.js';
import { OtlpCollector, type ReceivedSpan } from '../support/otlp-collector.js';
import { Rabbit } from '../support/rabbit.js';
import { until } from '../support/until.js';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const PERSISTED = 'INSERT execution_log';
const KIND = { internal: 1, client: 3, producer: 4, consumer: 5 };

describe('traces of runs on real processes', () => {
  let collector: OtlpCollector;
  let callee: Callee;
  let rabbit: Rabbit;
  let cluster: Cluster;
  let coordinator: AxProcess;
  let worker: AxProcess;

  beforeAll(async () => {
    collector = await OtlpCollector.start();
    callee = await Callee.start();
    rabbit = await Rabbit.connect(inject('amqpUrl'));
    cluster = await Cluster.create({
      ...collector.env,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      AX_AMQP_URL: inject('amqpUrl'),
      AX_CLAIM_TTL_MS: '2000',
    });
    coordinator = await cluster.serve('coordinator');
    worker = await cluster.serve('worker', { AX_NODE_ID: 'w1' });
  }, 120_000);

  afterAll(async () => {
    await cluster.close();
    await Promise.all([callee.close(), rabbit.close(), collector.close()]);
  });

  async function create(id: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
    const { status, json } = await coordinator.api('POST', '/api/tasks', {
      id,
      name: id,
      schedule_type: 'once',
      run_at: Date.now() + 86_400_000,
      idempotent: true,
      retry_count: 2,
      retry_interval: 2,
      ...fields,
    });
    expect(status, JSON.stringify(json)).toBe(201);
  }

  async function run(id: string, headers: Record<string, string> = {}) {
    const { json } = await coordinator.api<{ id: string; trace_id: string }>(
      'POST',
      `/api/tasks/${id}/run`,
      undefined,
      headers,
    );
    return json;
  }

  it('is one trace from the trigger of a scheduled run over its queue, two attempts and their calls to the stored result', async () => {
    const url = callee.on('/job', reply({ status: 503 }));
    await create('over-http', {
      schedule_type: 'once',
      run_at: Date.now() + 1000,
      executor: { type: 'http', url: `${url}?key=hidden` },
    });
    const calls = () => callee.requests.filter(({ headers }) => headers['x-ax-task-id'] === 'over-http');
    await until('the first attempt', () => calls().length > 0);
    callee.on('/job', reply({ status: 200 }));
    await until('the second attempt', () => calls().length > 1);
    const [, traceId = ''] = calls()[0]?.headers['traceparent']?.split('-') ?? [];
    const spans = await collector.trace(traceId, PERSISTED);

    expect(tree(spans)).toEqual([
      'trigger',
      '  publish default',
      '    process default',
      '      claim',
      '      attempt',
      '        POST',
      '      attempt',
      '        POST',
      '      finish',
      `      ${PERSISTED}`,
    ]);
    const [trigger, publish, process, , first, firstCall, second, secondCall, , persisted] = inOrder(spans);
    expect([publish?.kind, process?.kind, firstCall?.kind, persisted?.kind]).toEqual([
      KIND.producer,
      KIND.consumer,
      KIND.client,
      KIND.client,
    ]);
    expect(calls().map(({ headers }) => headers['traceparent'])).toEqual(
      [firstCall, secondCall].map((call) => `00-${traceId}-${call?.spanId}-01`),
    );
    expect(trigger?.attributes).toMatchObject({ 'ax.task.id': 'over-http', 'ax.trigger.kind': 'schedule' });
    expect(trigger?.resource).toMatchObject({
      'service.name': 'ax',
      'ax.role': 'coordinator',
      'deployment.environment.name': 'test',
    });
    expect(process?.resource).toMatchObject({ 'ax.role': 'worker', 'ax.node': 'w1' });
    expect(process?.attributes).toMatchObject({
      'messaging.system': 'ax',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'default',
      'ax.status': 'success',
      'ax.attempts': 2,
    });
    expect(process?.attributes['ax.queue.delay_ms']).toBeGreaterThanOrEqual(0);
    expect([first, second].map((attempt) => attempt?.attributes['ax.attempt'])).toEqual([1, 2]);
    expect(first).toMatchObject({
      isError: true,
      message: 'answered 503',
      attributes: { 'error.type': 'http_status' },
    });
    expect(first?.events['exception']).toMatchObject({ 'exception.message': 'answered 503' });
    expect(firstCall?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'url.full': `${url}?key=REDACTED`,
      'server.address': '127.0.0.1',
      'server.port': callee.port,
      'http.response.status_code': 503,
      'error.type': '503',
    });
    expect(secondCall).toMatchObject({
      isError: false,
      attributes: { 'http.response.status_code': 200, 'http.request.resend_count': 1 },
    });
    expect(persisted?.attributes).toMatchObject({
      'db.system.name': 'mysql',
      'db.collection.name': 'execution_log',
    });
    expect(JSON.stringify(collector.spans)).not.toContain('hidden');
    for (const span of spans) expect(span.end, span.name).toBeGreaterThanOrEqual(span.start);
  }, 180_000);

  it('joins the trace of the caller of a manual run, and reaches the consumer of its message', async () => {
    const queue = rabbit.nameFor('traced');
    await create('over-amqp', { executor: { type: 'mq', routing_key: queue } });
    const { id, trace_id } = await run('over-amqp', {
      traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`,
    });
    expect(trace_id).toBe(CALLER.traceId);
    await until('the first attempt found no queue', async () => {
      const { json } = await coordinator.api<{ status: string }>('GET', `/api/executions/${id}`);
      return json.status === 'retrying';
    });
    await rabbit.declare(queue);
    const message = await rabbit.take(queue);
    await rabbit.remove(queue);
    const spans = await collector.trace(CALLER.traceId, PERSISTED);

    expect(tree(spans)).toEqual([
      'trigger',
      '  publish default',
      '    process default',
      '      claim',
      '      attempt',
      `        publish ${queue}`,
      '      attempt',
      `        publish ${queue}`,
      '      finish',
      `      ${PERSISTED}`,
    ]);
    const [trigger, , , , , lost, , sent] = inOrder(spans);
    expect(trigger?.parentSpanId).toBe(CALLER.spanId);
    expect(message.properties.headers?.['traceparent']).toBe(`00-${CALLER.traceId}-${sent?.spanId}-01`);
    expect(sent?.kind).toBe(KIND.producer);
    expect(sent?.attributes).toMatchObject({
      'messaging.system': 'rabbitmq',
      'messaging.operation.type': 'send',
      'messaging.destination.name': queue,
      'messaging.message.id': id,
    });
    expect(lost).toMatchObject({ isError: true, attributes: { 'error.type': 'unroutable' } });
  }, 120_000);

  it('tells of a worker that died, and links the run of the next one to it', async () => {
    const url = callee.on('/hang', () => undefined);
    await create('killed', { executor: { type: 'http', url }, timeout_sec: 60, retry_count: 0 });
    const { trace_id } = await run('killed');
    await until('the call hangs', () => callee.requests.some(({ path }) => path === '/hang'));
    worker.signal('SIGKILL');
    callee.on('/hang', reply({ status: 200 }));
    worker = await cluster.serve('worker', { AX_NODE_ID: 'w2' });
    const spans = await collector.trace(trace_id, PERSISTED);
    const [lost, taken] = spans.filter(({ name }) => name === 'process default');
    expect(lost).toMatchObject({ isError: true, attributes: { 'error.type': 'worker_lost' } });
    expect(taken).toMatchObject({ isError: false, attributes: { 'ax.status': 'success' } });
    expect(taken?.links).toEqual([lost?.spanId]);
    expect(taken?.parentSpanId).toBe(lost?.parentSpanId);
  }, 120_000);
});

/** Names, each below and further in than its parent, in order of their beginning. */
const tree = (spans: readonly ReceivedSpan[]): string[] =>
  walk(spans).map(({ span, depth }) => '  '.repeat(depth) + span.name);

const inOrder = (spans: readonly ReceivedSpan[]): ReceivedSpan[] => walk(spans).map(({ span }) => span);

function walk(spans: readonly ReceivedSpan[]): { span: ReceivedSpan; depth: number }[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const ordered = spans.toSorted((a, b) => Math.floor(a.start) - Math.floor(b.start) || a.end - b.end);
  const below = (parents: readonly ReceivedSpan[], depth: number): { span: ReceivedSpan; depth: number }[] =>
    parents.flatMap((span) => [
      { span, depth },
      ...below(
        ordered.filter(({ parentSpanId }) => parentSpanId === span.spanId),
        depth + 1,
      ),
    ]);
  return below(
    ordered.filter(({ parentSpanId }) => !ids.has(parentSpanId)),
    0,
  );
}
