import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { MqExecutor } from '../../src/adapters/executors/mq/mq-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { type MqExecutorSpec } from '../../src/domain/executors/mq-spec.js';
import { AmqpProxy } from '../support/amqp-proxy.js';
import { openFullBacklog } from '../support/full-backlog.js';
import { specTo } from '../support/mq-spec.js';
import { Rabbit } from '../support/rabbit.js';
import { RecordingLogger } from '../support/recording.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { buildRequest } from './executor.suite.js';

const clock = new SystemClock();
const random = new SystemRandom();

describe('MqExecutor and a broker at fault', () => {
  let rabbit: Rabbit;
  let proxy: TcpProxy;
  let executor: MqExecutor;
  let logger: RecordingLogger;

  const create = (url: string) =>
    new MqExecutor({ brokers: new Map([['default', url]]), replyQueue: 'unused', clock, random, logger });

  beforeAll(async () => {
    rabbit = await Rabbit.connect(inject('amqpUrl'));
  });
  afterAll(() => rabbit.close());

  beforeEach(async () => {
    logger = new RecordingLogger();
    proxy = await TcpProxy.start(inject('amqpUrl'));
    executor = create(proxy.through(inject('amqpUrl')));
  });
  afterEach(async () => {
    await executor.close();
    await proxy.close();
  });

  const publish = (spec: MqExecutorSpec, timeoutMs = 20_000, by = executor, signal?: AbortSignal) =>
    by.execute(buildRequest(spec, { timeoutMs }), signal ?? new AbortController().signal);

  describe('refuses', () => {
    it('a message that no queue takes: unroutable', async () => {
      const exchange = await rabbit.exchange();
      const outcome = await publish(specTo('nowhere', { exchange }));
      expect(outcome).toMatchObject({
        status: 'fail',
        reason: 'unroutable',
        evidence: { exchange, routing_key: 'nowhere', reply_text: '312 NO_ROUTE' },
      });
      expect(outcome.evidence).not.toHaveProperty('may_have_arrived');
    });

    it('an unknown exchange, and blames no other message on its way', async () => {
      const queue = await rabbit.queue();
      const runs = Array.from({ length: 60 }, (_, n) =>
        publish(n % 3 === 0 ? specTo('x', { exchange: 'ax-test-none' }) : specTo(queue)),
      );
      const outcomes = await Promise.all(runs);
      for (const [n, outcome] of outcomes.entries()) {
        if (n % 3 !== 0) expect(outcome).toMatchObject({ status: 'success' });
        else
          expect(outcome).toMatchObject({
            status: 'fail',
            reason: 'unknown_exchange',
            evidence: { error_code: '404' },
          });
      }
      expect(outcomes[0]).toMatchObject({ message: expect.stringContaining('ax-test-none') as string });
      expect(await rabbit.count(queue)).toBe(40);
    });

    it('a message for a full queue: nacked', async () => {
      const queue = await rabbit.queue({ maxLength: 1, overflow: 'reject-publish' });
      expect(await publish(specTo(queue))).toMatchObject({ status: 'success' });
      await until('the queue is full', async () => (await rabbit.count(queue)) === 1);
      expect(await publish(specTo(queue))).toMatchObject({ status: 'fail', reason: 'nacked' });
      expect(await rabbit.count(queue)).toBe(1);
    });

    it('headers that no message carries: configuration, and the next message goes out', async () => {
      const queue = await rabbit.queue();
      const headers = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`h${n}`, 'x'.repeat(2000)]));
      expect(await publish(specTo(queue, { headers }))).toMatchObject({
        status: 'fail',
        reason: 'configuration',
      });
      expect(await publish(specTo(queue))).toMatchObject({ status: 'success' });
    });
  });

  describe('cannot be reached', () => {
    it('refused: connect, and the next one finds it again', async () => {
      const queue = await rabbit.queue();
      proxy.cut();
      const gone = await TcpProxy.start(inject('amqpUrl'));
      const url = gone.through(inject('amqpUrl'));
      await gone.close();
      const lonely = create(url);
      expect(await publish(specTo(queue), 20_000, lonely)).toMatchObject({
        status: 'fail',
        reason: 'connect',
        evidence: { error_code: 'ECONNREFUSED' },
      });
      await lonely.close();
      expect(await publish(specTo(queue))).toMatchObject({ status: 'fail', reason: 'connect' });
      proxy.restore();
      expect(await publish(specTo(queue))).toMatchObject({ status: 'success' });
      const lines = logger.lines.map(([, , text]) => text);
      expect(lines).toContain('broker connection failed');
      expect(lines).toContain('broker connection is back');
    });

    it.each([
      ['no such name', 'amqp://broker.invalid', 'dns'],
      ['a broker without TLS', 'amqps', 'tls'],
      ['a wrong password', 'password', 'connect'],
      ['no such virtual host', 'vhost', 'connect'],
    ])('%s', async (_what, how, reason) => {
      const url = new URL(inject('amqpUrl'));
      if (how === 'password') url.password = 'wr0ng';
      if (how === 'vhost') url.pathname = '/none';
      const text = how === 'amqps' ? url.href.replace('amqp:', 'amqps:') : url.href;
      const stranger = create(how.startsWith('amqp://') ? how : text);
      const outcome = await publish(specTo('x'), 20_000, stranger);
      expect(outcome).toMatchObject({ status: 'fail', reason });
      expect(JSON.stringify([outcome, logger.lines])).not.toContain('wr0ng');
      await stranger.close();
    });

    it('neither connected nor refused: ends at the deadline, and at once on an abort', async () => {
      const silent = await openFullBacklog();
      const waiting = create(`amqp://127.0.0.1:${silent.port}`);
      const outcome = await publish(specTo('x'), 300, waiting);
      expect(outcome).toMatchObject({ status: 'timeout', reason: 'deadline' });
      expect('message' in outcome && outcome.message).toContain('was not sent');
      const stop = new AbortController();
      const stopped = publish(specTo('x'), 600_000, waiting, stop.signal);
      stop.abort('drained');
      expect(await stopped).toMatchObject({ status: 'fail', reason: 'drained' });
      await waiting.close();
      await silent.close();
    });

    it('under a name that this worker does not know: configuration, with the variable to set', async () => {
      const outcome = await publish(specTo('x', { broker: 'eu_west' }));
      expect(outcome).toMatchObject({ status: 'fail', reason: 'configuration' });
      expect('message' in outcome && outcome.message).toContain('AX_AMQP_EU_WEST_URL');
    });
  });

  describe('falls silent', () => {
    it('before the confirm: network, the message may have arrived, and it has', async () => {
      const queue = await rabbit.queue();
      expect(await publish(specTo(queue))).toMatchObject({ status: 'success' });
      proxy.stall('answers');
      const outcome = publish(specTo(queue));
      await until('the message is there', async () => (await rabbit.count(queue)) === 2);
      proxy.cut();
      expect(await outcome).toMatchObject({
        status: 'fail',
        reason: 'network',
        evidence: { may_have_arrived: true },
      });
      expect(await outcome).toMatchObject({ message: expect.stringContaining('may have arrived') as string });
      proxy.restore();
      expect(await publish(specTo(queue))).toMatchObject({ status: 'success' });
    });

    it('until the deadline: timeout, the message may have arrived', async () => {
      const queue = await rabbit.queue();
      await publish(specTo(queue));
      proxy.stall('answers');
      expect(await publish(specTo(queue), 300)).toMatchObject({
        status: 'timeout',
        reason: 'deadline',
        evidence: { may_have_arrived: true },
      });
      proxy.restore();
      expect(await publish(specTo(queue))).toMatchObject({ status: 'success' });
    });

    it('and its heartbeats stay out: the connection is given up, and the next one is used', async () => {
      const queue = await rabbit.queue();
      const impatient = create(`${proxy.through(inject('amqpUrl'))}?heartbeat=1`);
      expect(await publish(specTo(queue), 20_000, impatient)).toMatchObject({ status: 'success' });
      proxy.stallOpen();
      expect(await publish(specTo(queue), 20_000, impatient)).toMatchObject({ reason: 'network' });
      expect(await publish(specTo(queue), 20_000, impatient)).toMatchObject({ status: 'success' });
      await impatient.close();
    });
  });

  it('gives the channel of a stopped attempt up, and never confuses its confirm with that of the next', async () => {
    const [slow, full] = [
      await rabbit.queue(),
      await rabbit.queue({ maxLength: 0, overflow: 'reject-publish' }),
    ];
    const holding = await AmqpProxy.start(inject('amqpUrl'), slow);
    const patient = create(holding.through(inject('amqpUrl')));
    const stop = new AbortController();
    const stopped = publish(specTo(slow), 20_000, patient, stop.signal);
    await until('the confirm is held back', () => holding.waiting === 1);
    stop.abort('cancelled');
    const next = publish(specTo(full), 20_000, patient);
    holding.release();
    expect(await stopped).toMatchObject({
      status: 'fail',
      reason: 'cancelled',
      evidence: { may_have_arrived: true },
    });
    expect(await next).toMatchObject({ status: 'fail', reason: 'nacked' });
    await patient.close();
    await holding.close();
  });

  it('reports a cancel message that did not go out, and does not throw', async () => {
    proxy.cut();
    await executor.withdraw(buildRequest(specTo('x')), 'cancelled');
    expect(logger.lines.at(-1)?.[2]).toContain('cancel message');
    await executor.withdraw(buildRequest(specTo('x', { broker: 'unknown' })), 'cancelled');
  });
});
