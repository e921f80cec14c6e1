import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { InProcessReceipts } from '../../src/adapters/embedded/in-process-receipts.js';
import { ReplyQueue } from '../../src/adapters/executors/mq/reply-queue.js';
import { Sha256TokenHash } from '../../src/adapters/system/sha256-token-hash.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { AxError } from '../../src/domain/errors.js';
import { type Receipts } from '../../src/ports/receipts.js';
import { nextUuid } from '../support/builders.js';
import { Rabbit } from '../support/rabbit.js';
import { RecordingLogger, RecordingMetrics } from '../support/recording.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const clock = new SystemClock();

/** A store that can be away. */
class Store extends InProcessReceipts {
  isAway = false;
  refused = 0;

  override async post(...args: Parameters<Receipts['post']>) {
    if (!this.isAway) return super.post(...args);
    this.refused += 1;
    throw new AxError('unavailable', 'the store is away');
  }
}

describe('ReplyQueue', () => {
  let rabbit: Rabbit;
  let queue: string;
  let store: Store;
  let metrics: RecordingMetrics;
  let logger: RecordingLogger;
  let ends: (() => Promise<void>)[];

  beforeAll(async () => {
    rabbit = await Rabbit.connect(inject('amqpUrl'));
  });
  afterAll(() => rabbit.close());

  beforeEach(async () => {
    queue = rabbit.nameFor('receipts');
    store = new Store(clock);
    metrics = new RecordingMetrics();
    logger = new RecordingLogger();
    ends = [];
  });

  afterEach(async () => {
    for (const end of ends) await end();
    await rabbit.remove(queue);
  });

  /** Runs until the end of the test, or until what it resolves with is called. */
  async function start(url = inject('amqpUrl')): Promise<() => Promise<void>> {
    const stop = new AbortController();
    const random = new SystemRandom();
    const hash = new Sha256TokenHash();
    const options = { broker: 'default', url, queue, receipts: store, hash, clock, random, metrics, logger };
    const ended = new ReplyQueue(options).run(stop.signal);
    const end = async () => {
      stop.abort();
      await ended;
    };
    ends.push(end);
    await until('the queue has a consumer', async () => (await consumers()) > 0);
    return end;
  }

  async function consumers(): Promise<number> {
    const looking = await Rabbit.connect(inject('amqpUrl'));
    const none = () => 0; // The queue is not there yet.
    return looking
      .consumers(queue)
      .catch(none)
      .finally(() => looking.close());
  }

  async function open(): Promise<string> {
    const executionId = nextUuid();
    const tokenHash = createHash('sha256').update('t0ken').digest('hex');
    await store.open({ executionId, attempt: 1, tokenHash, keepMs: 60_000 });
    return executionId;
  }

  const came = async (id: string) =>
    (await store.read([id]))[0]?.map(({ kind, message }) => [kind, message] as const) ?? [];
  const untilCame = (id: string, count: number) =>
    until(`${count} receipts`, async () => (await came(id)).length >= count);
  const answers = () => metrics.seen.map(({ labels }) => labels['answer']);
  const headers = { 'x-ax-receipt-token': 't0ken' };

  it('takes receipts with id and token in properties and headers, or in the body', async () => {
    await start();
    const id = await open();
    rabbit.send(queue, '{"status": "progress", "message": "half"}', { correlationId: id, headers });
    await untilCame(id, 1);
    rabbit.send(
      queue,
      JSON.stringify({ execution_id: id, token: 't0ken', status: 'fail', message: 'no\nstock' }),
    );
    await untilCame(id, 2);
    expect(await came(id)).toEqual([
      ['progress', 'half'],
      ['fail', 'no stock'],
    ]);
    await until(
      'both are acknowledged',
      async () => answers().length === 2 && (await rabbit.count(queue)) === 0,
    );
  });

  it('drops wrong ones, says why, counts them, and goes on', async () => {
    await start();
    const id = await open();
    const bad = ['', 'no json', '[]', '{"status": "done"}', Buffer.from([0xff]).toString('latin1')];
    for (const body of bad) rabbit.send(queue, body, { correlationId: id, headers });
    rabbit.send(queue, '{"status": "success"}', { headers });
    rabbit.send(queue, '{"status": "success"}', { correlationId: id });
    const wrong = { 'x-ax-receipt-token': 'an0ther' };
    rabbit.send(queue, '{"status": "success"}', { correlationId: id, headers: wrong });
    rabbit.send(queue, '{"status": "success"}', { correlationId: id, headers });
    await untilCame(id, 1);
    expect(await came(id)).toEqual([['success', null]]);
    await until('all are counted', () => answers().length === 9);
    expect(answers().toSorted()).toEqual([
      'accepted',
      ...Array.from({ length: 7 }, () => 'malformed'),
      'wrong_token',
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain('an0ther');
    expect(logger.lines.filter(([level]) => level === 'warn')).toHaveLength(8);
    expect(await rabbit.count(queue)).toBe(0);
  });

  it('loses nothing while the store is away', async () => {
    await start();
    const id = await open();
    store.isAway = true;
    rabbit.send(queue, '{"status": "success"}', { correlationId: id, headers });
    await until('the store refused it twice', () => store.refused >= 2);
    store.isAway = false;
    await untilCame(id, 1);
    await until('it is acknowledged', () => answers().includes('accepted'));
  });

  it('waits a while for a wait that is not open yet', async () => {
    await start();
    const id = nextUuid();
    rabbit.send(queue, '{"status": "success"}', { correlationId: id, headers });
    await until('it is taken', async () => (await rabbit.count(queue)) === 0);
    const tokenHash = createHash('sha256').update('t0ken').digest('hex');
    await store.open({ executionId: id, attempt: 1, tokenHash, keepMs: 60_000 });
    await untilCame(id, 1);
  });

  it('leaves to the broker what it has not done with when it stops', async () => {
    const end = await start();
    store.isAway = true;
    rabbit.send(queue, '{"status": "success"}', { correlationId: await open(), headers });
    await until('it is in work', () => store.refused > 0);
    await end();
    await until('it is back', async () => (await rabbit.count(queue)) === 1);
  });

  it('comes back after a cut connection and a deleted queue', async () => {
    const proxy = await TcpProxy.start(inject('amqpUrl'));
    await start(proxy.through(inject('amqpUrl')));
    proxy.cut();
    await until('nobody consumes', async () => (await consumers()) === 0);
    const id = await open();
    rabbit.send(queue, '{"status": "progress"}', { correlationId: id, headers });
    proxy.restore();
    await untilCame(id, 1);
    await rabbit.remove(queue);
    await until('the queue is there again', async () => (await consumers()) === 1);
    rabbit.send(queue, '{"status": "success"}', { correlationId: id, headers });
    await untilCame(id, 2);
    for (const end of ends) await end();
    await proxy.close();
  });
});
