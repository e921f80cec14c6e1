import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { RedisClaims } from '../../src/adapters/redis/redis-claims.js';
import { RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { RedisLock } from '../../src/adapters/redis/redis-lock.js';
import { RedisQueue } from '../../src/adapters/redis/redis-queue.js';
import {
  type BrokerHarness,
  claimed,
  idsOf,
  publishAndTake,
  reportOf,
  take,
  takeSoon,
} from '../support/broker-harness.js';
import { buildMessage, buildReport } from '../support/builders.js';
import { RedisNamespace } from '../support/redis-namespace.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const url = inject('redisUrl');
const unavailable = { code: 'unavailable', retryable: true };

describe('Redis that fails', () => {
  let namespace: RedisNamespace;
  let proxy: TcpProxy;
  /** A node behind the proxy, and one with a good connection. */
  let node: BrokerHarness;
  let neighbour: BrokerHarness;
  beforeEach(async () => {
    namespace = new RedisNamespace(url);
    proxy = await TcpProxy.start(url);
    node = namespace.broker(namespace.connect(proxy.through(url)));
    neighbour = namespace.broker();
  });
  afterEach(async () => {
    await namespace.close();
    await proxy.close();
  });

  const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1000;
  const blocked = () =>
    until('the reader to block', async () => {
      const clients = ((await namespace.redis.client('LIST')) as string).split('\n');
      return clients.some(
        (line) => line.includes(`name=${namespace.prefix}blocking`) && line.includes('flags=b'),
      );
    });
  /** Settles to what a take came to, or its error. */
  const outcomeOf = (taking: Promise<unknown>) => taking.catch((error: unknown) => error);

  it('a blocking take gives up a connection that is cut without a word, and the next one works', async () => {
    const taking = outcomeOf(take(node, { waitMs: 1000, taker: 'stalled' }));
    await blocked();
    const startedAt = performance.now();
    proxy.stall();
    const message = buildMessage();
    await neighbour.queue.publish([message]);
    expect(await taking).toMatchObject(unavailable);
    expect(secondsSince(startedAt)).toBeLessThan(10);
    proxy.restore();
    // The server gave the message to the reader that could not hear it any more; it is taken over after its time.
    const taken = await until('the message', async () => {
      const deliveries = await take(node, { taker: 'back', reclaimAfterMs: 500, waitMs: 200 }).catch(
        () => [],
      );
      return deliveries.length > 0 && deliveries;
    });
    expect(idsOf(taken)).toEqual([message.event.id]);
  });

  it('a take that is aborted on a stalled connection ends soon', async () => {
    const stop = new AbortController();
    const taking = outcomeOf(take(node, { waitMs: 60_000, signal: stop.signal }));
    await blocked();
    proxy.stall();
    const startedAt = performance.now();
    stop.abort();
    expect(await taking).toMatchObject(unavailable);
    expect(secondsSince(startedAt)).toBeLessThan(10);
  });

  it('a blocking take fails at once when its connection is cut, and the next one works', async () => {
    const taking = outcomeOf(take(node, { waitMs: 60_000 }));
    await blocked();
    proxy.cut();
    expect(await taking).toMatchObject(unavailable);
    proxy.restore();
    const message = buildMessage();
    await neighbour.queue.publish([message]);
    const taken = await until('the message', async () => {
      const deliveries = await take(node).catch(() => []);
      return deliveries.length > 0 && deliveries;
    });
    expect(idsOf(taken)).toEqual([message.event.id]);
  });

  it('a connection for commands that is forgotten on the way is replaced', async () => {
    await node.queue.publish([buildMessage()]);
    proxy.stallOpen();
    const startedAt = performance.now();
    await expect(node.queue.depth()).rejects.toMatchObject(unavailable);
    expect(secondsSince(startedAt)).toBeLessThan(6);
    await until('the node to reconnect', () => node.queue.depth().catch(() => null));
    expect(await node.queue.depth()).toBe(1);
  });

  it('what was given up is not done later', async () => {
    const lock = new RedisLock(namespace.connect(proxy.through(url)));
    await lock.acquire('warm', 'a', 60_000);
    proxy.cut();
    await expect(lock.acquire('leader', 'a', 600_000)).rejects.toMatchObject(unavailable);
    proxy.restore();
    await until('the lock to answer', () => lock.renew('warm', 'a', 60_000).catch(() => null));
    expect(await new RedisLock(namespace.connect()).acquire('leader', 'b', 1000)).toMatchObject({
      holder: 'b',
    });
  });

  it('a take that waits goes on when the data is gone', async () => {
    await publishAndTake(node, [buildMessage()]);
    const taking = take(node, { waitMs: 20_000, pools: ['default', 'other'] });
    await blocked();
    await namespace.empty();
    const message = buildMessage();
    await neighbour.queue.publish([message]);
    expect(idsOf(await taking)).toEqual([message.event.id]);
  });

  it('messages of a stream that outlived its group are handed out again, and run once', async () => {
    const [first, second] = [buildMessage(), buildMessage()];
    const [delivery] = await publishAndTake(node, [first, second]);
    const { claim } = await claimed(node, delivery, 'worker-1', 60_000);
    await namespace.redis.xgroup('DESTROY', `${namespace.prefix}queue:default`, 'workers');
    expect(await node.claims.renew([claim], 60_000)).toEqual(['alive']);
    const again = await take(neighbour, { taker: 'worker-2' });
    expect(idsOf(again)).toEqual([first.event.id, second.event.id]);
    const outcomes = await Promise.all(again.map((one) => neighbour.claims.claim(one, 'worker-2', 60_000)));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'claimed']);
    expect(await node.claims.finish(claim, buildReport(reportOf(claim)))).toBe(true);
    expect(await node.queue.depth()).toBe(1);
  });

  it('scripts are known again after the server has forgotten them', async () => {
    await node.queue.publish([buildMessage()]);
    await namespace.redis.script('FLUSH');
    const outcomes = await Promise.all([1, 2, 3].map(() => node.queue.publish([buildMessage()])));
    expect(outcomes).toEqual([['added'], ['added'], ['added']]);
  });

  it('calls are refused once closed, a take that waits ends, and no connection is left', async () => {
    const connection = namespace.connect(proxy.through(url));
    const harness = namespace.broker(connection);
    const taking = outcomeOf(take(harness, { waitMs: 60_000 }));
    await blocked();
    await connection.close();
    expect(await taking).toMatchObject({ code: 'unavailable' });
    await expect(harness.queue.depth()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(take(harness, { waitMs: 100 })).rejects.toMatchObject({ code: 'unavailable' });
    await until('the connections to end', () => proxy.connections === 0);
  });

  it('a call that waits for a connection ends with the closing', async () => {
    proxy.cut();
    const connection = namespace.connect(proxy.through(url));
    let hasEnded = false;
    const calling = outcomeOf(new RedisQueue(connection).depth()).finally(() => (hasEnded = true));
    await connection.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(true);
    expect(await calling).toMatchObject({ code: 'unavailable' });
  });

  it('a node that never reached Redis says so and closes all the same', async () => {
    proxy.cut();
    const told: unknown[] = [];
    const logger = {
      debug: () => {},
      info: () => {},
      warn: (facts: unknown) => told.push(facts),
      error: () => {},
    };
    const connection = namespace.connect(proxy.through(url), logger);
    const startedAt = performance.now();
    const calls = [1, 2, 3].map(() =>
      expect(new RedisQueue(connection).depth()).rejects.toMatchObject(unavailable),
    );
    await Promise.all(calls);
    expect(secondsSince(startedAt)).toBeLessThan(6);
    await expect(take(namespace.broker(connection))).rejects.toMatchObject(unavailable);
    await connection.close();
    expect(told.length).toBeLessThanOrEqual(2);
  });

  it('a refusal by the server is told as such', async () => {
    await namespace.redis.set(`${namespace.prefix}queue:default`, 'not a stream');
    const refusal = { code: 'unavailable', retryable: false };
    await expect(node.queue.publish([buildMessage()])).rejects.toMatchObject(refusal);
    await expect(take(node)).rejects.toMatchObject(refusal);
  });

  it('a renewal that the server has answered in part is an error, and repeating it is safe', async () => {
    const claims = new RedisClaims(namespace.connect());
    const deliveries = await publishAndTake(node, [buildMessage(), buildMessage()]);
    const held = [];
    for (const delivery of deliveries) held.push((await claimed(node, delivery, 'worker-1', 60_000)).claim);
    const key = `${namespace.prefix}running:${held[1]?.taskId}`;
    await namespace.redis.rename(key, `${key}:away`);
    await namespace.redis.set(key, 'not a set');
    await expect(claims.renew(held, 60_000)).rejects.toMatchObject({ code: 'unavailable' });
    await namespace.redis.rename(`${key}:away`, key);
    expect(await claims.renew(held, 60_000)).toEqual(['alive', 'alive']);
  });

  it('a claim that the server refuses fails alone, the others of its turn hold', async () => {
    const deliveries = await publishAndTake(neighbour, [buildMessage(), buildMessage(), buildMessage()]);
    const { taskId, kind, slot } = deliveries[1]!.message.event;
    await namespace.redis.set(`${namespace.prefix}run:${taskId}:${kind}:${slot}`, 'not a hash');
    const claiming = deliveries.map((delivery) => neighbour.claims.claim(delivery, 'worker-1', 60_000));
    const [first, second, third] = await Promise.allSettled(claiming);
    expect(first).toMatchObject({ value: { outcome: 'claimed' } });
    expect(second).toMatchObject({ reason: { code: 'unavailable', retryable: false } });
    expect(third).toMatchObject({ value: { outcome: 'claimed' } });
  });

  it('a reader that is dropped leaves nothing behind that others cannot take', async () => {
    const doomed = namespace.connect(proxy.through(url));
    const taking = outcomeOf(take(namespace.broker(doomed), { waitMs: 60_000, taker: 'doomed' }));
    await blocked();
    await doomed.close();
    await taking;
    await neighbour.queue.publish([buildMessage()]);
    expect(await takeSoon(neighbour, { taker: 'alive' })).toHaveLength(1);
  });
});

describe('RedisConnection', () => {
  it('refuses a namespace that would break its keys', () => {
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    for (const namespace of ['', 'a}b', 'a b', 'x'.repeat(65)]) {
      expect(() => new RedisConnection({ url, namespace, logger })).toThrow(/is not a namespace/);
    }
  });
});
