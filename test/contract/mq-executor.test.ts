import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { MqExecutor } from '../../src/adapters/executors/mq/mq-executor.js';
import { AmqpProxy } from '../support/amqp-proxy.js';
import { BASE } from '../support/builders.js';
import { specTo } from '../support/mq-spec.js';
import { Rabbit } from '../support/rabbit.js';
import { RecordingLogger } from '../support/recording.js';
import { buildRequest, executorSuite } from './executor.suite.js';

executorSuite('MqExecutor', async (clock) => {
  const rabbit = await Rabbit.connect(inject('amqpUrl'));
  const [prompt, slow] = [await rabbit.queue(), await rabbit.queue()];
  const proxy = await AmqpProxy.start(inject('amqpUrl'), slow);
  const brokers = new Map([['default', proxy.through(inject('amqpUrl'))]]);
  const logger = new RecordingLogger();
  return {
    executor: new MqExecutor({ brokers, replyQueue: 'unused', clock, random: new SystemRandom(), logger }),
    peer: {
      succeeding: specTo(prompt),
      accepting: specTo(prompt, { ack: 'receipt' }),
      failing: specTo(`${prompt}-of-nobody`),
      lasting: specTo(slow),
      complete: () => proxy.release(),
      begun: (executionId) => proxy.takenOf(executionId),
      atWork: () => proxy.waiting,
      close: async () => {
        await proxy.close();
        await rabbit.close();
      },
    },
  };
});

describe('MqExecutor sends', () => {
  const logger = new RecordingLogger();
  const clock = new SystemClock();
  const never = new AbortController().signal;
  let rabbit: Rabbit;
  let executor: MqExecutor;
  let replyQueue: string;

  beforeAll(async () => {
    rabbit = await Rabbit.connect(inject('amqpUrl'));
    replyQueue = rabbit.nameFor('receipts');
    const brokers = new Map([
      ['default', inject('amqpUrl')],
      ['other', inject('amqpUrl')],
    ]);
    executor = new MqExecutor({ brokers, replyQueue, clock, random: new SystemRandom(), logger });
  });

  afterAll(async () => {
    await executor.close();
    await rabbit.close();
  });

  it('the run as body, properties and headers, beside those of the task', async () => {
    const queue = await rabbit.queue();
    const params = { names: ['ä', '名'] };
    const request = buildRequest(specTo(queue, { headers: { 'x-tenant': 'blue 名' } }), {
      params,
      attempt: 2,
    });
    const before = Math.floor(clock.now() / 1000);
    expect(await executor.execute(request, never)).toMatchObject({ status: 'success' });
    const { content, properties } = await rabbit.take(queue);
    const body = {
      execution_id: request.executionId,
      task_id: 'task-1',
      schedule_at: BASE,
      fired_at: BASE + 12,
      attempt: 2,
      params,
    };
    expect(JSON.parse(content.toString())).toEqual(body);
    expect(properties).toMatchObject({
      messageId: request.executionId,
      correlationId: request.executionId,
      deliveryMode: 2,
      contentType: 'application/json',
      type: 'ax.run',
      appId: 'ax',
    });
    expect(properties.replyTo).toBeUndefined();
    expect(properties.timestamp).toBeGreaterThanOrEqual(before);
    expect(properties.timestamp).toBeLessThanOrEqual(clock.now() / 1000);
    expect(properties.headers).toEqual({
      'x-tenant': 'blue 名',
      traceparent: request.traceparent,
      'x-ax-task-id': 'task-1',
      'x-ax-execution-id': request.executionId,
      'x-ax-attempt': 2,
      'x-ax-schedule-at': BASE,
      'x-ax-fired-at': BASE + 12,
    });
  });

  it('by exchange and routing key, to the broker of that name', async () => {
    const [queue, exchange] = [await rabbit.queue(), await rabbit.exchange()];
    await rabbit.bind(queue, exchange, 'orders.sync');
    const request = buildRequest(specTo('orders.sync', { broker: 'other', exchange }));
    const outcome = await executor.execute(request, never);
    expect(outcome).toMatchObject({ status: 'success', reason: null, message: null });
    expect(outcome.evidence).toMatchObject({ broker: 'other', exchange, routing_key: 'orders.sync' });
    const { content, properties } = await rabbit.take(queue);
    expect(properties.messageId).toBe(request.executionId);
    expect(outcome.evidence['bytes']).toBe(content.length);
  });

  it('where the receipt is to go, after making sure that there is such a queue; then it is delivered', async () => {
    const queue = await rabbit.queue();
    const receipt = { token: 't0ken', url: 'http://ax/api/executions/1/receipt' };
    const request = buildRequest(specTo(queue, { ack: 'receipt' }), { receipt });
    expect(await executor.execute(request, never)).toMatchObject({
      status: 'delivered',
      evidence: { routing_key: queue },
    });
    const { properties } = await rabbit.take(queue);
    expect(properties.replyTo).toBe(replyQueue);
    expect(properties.headers).toMatchObject({
      'x-ax-receipt-token': 't0ken',
      'x-ax-receipt-url': receipt.url,
    });
    expect(await rabbit.count(replyQueue)).toBe(0);
    await rabbit.remove(replyQueue);
  });

  it('a cancel message to the same route', async () => {
    const queue = await rabbit.queue();
    const request = buildRequest(specTo(queue, { headers: { 'x-tenant': 'blue' } }));
    await executor.withdraw(request, 'deadline');
    const { content, properties } = await rabbit.take(queue);
    expect(properties).toMatchObject({
      type: 'ax.cancel',
      messageId: `cancel.${request.executionId}`,
      correlationId: request.executionId,
      headers: {
        'x-ax-cancel-reason': 'deadline',
        'x-ax-execution-id': request.executionId,
        'x-tenant': 'blue',
      },
    });
    expect(JSON.parse(content.toString())).toMatchObject({
      execution_id: request.executionId,
      reason: 'deadline',
    });
  });

  it('what a hook has to say under a type and an id of its own', async () => {
    const queue = await rabbit.queue();
    const hook = { kind: 'post', key: 'e1:post', body: { hook: 'post', status: 'success' } } as const;
    await executor.execute({ ...buildRequest(specTo(queue)), hook }, never);
    const { content, properties } = await rabbit.take(queue);
    expect(properties).toMatchObject({
      type: 'ax.hook',
      messageId: 'e1:post',
      headers: { 'x-ax-hook': 'post' },
    });
    expect(JSON.parse(content.toString())).toEqual(hook.body);
  });

  it('200 messages at once, one confirm each, in few channels', async () => {
    const queue = await rabbit.queue();
    const runs = Array.from({ length: 200 }, () =>
      executor.execute(buildRequest(specTo(queue)), new AbortController().signal),
    );
    const outcomes = await Promise.all(runs);
    expect(outcomes.filter(({ status }) => status === 'success')).toHaveLength(200);
    expect(await rabbit.count(queue)).toBe(200);
  });
});
