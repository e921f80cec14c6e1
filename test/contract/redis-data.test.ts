import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { assertRedisFit } from '../../src/adapters/redis/redis-fit.js';
import { RedisQueue } from '../../src/adapters/redis/redis-queue.js';
import { RedisWorkerRegistry } from '../../src/adapters/redis/redis-worker-registry.js';
import { type RedisScript } from '../../src/adapters/redis/redis-script.js';
import { TAKE } from '../../src/adapters/redis/stream-scripts.js';
import { StreamTaker } from '../../src/adapters/redis/stream-taker.js';
import {
  type BrokerHarness,
  claimed,
  idsOf,
  publishAndTake,
  reportOf,
  take,
} from '../support/broker-harness.js';
import { buildMessage, buildReport, buildTask, snapshotOf } from '../support/builders.js';
import { buildWorker } from '../support/pools.js';
import { RedisNamespace, silent } from '../support/redis-namespace.js';

const url = inject('redisUrl');
const HOUR_MS = 3_600_000;

describe('what ax keeps in Redis', () => {
  let namespace: RedisNamespace;
  let node: BrokerHarness;
  beforeEach(() => {
    namespace = new RedisNamespace(url);
    node = namespace.broker();
  });
  afterEach(() => namespace.close());

  it('has one hash tag, and names what it is', async () => {
    const [delivery] = await publishAndTake(node, [buildMessage()]);
    const { claim } = await claimed(node, delivery, 'worker-1');
    await node.queue.epoch();
    await node.claims.report(claim, buildReport(reportOf(claim)), {
      attempt: 1,
      failures: 0,
      receiptUntil: null,
      retryAt: null,
    });
    const run = `run:${claim.taskId}:${claim.kind}:${claim.slot}`;
    const names = ['epoch', 'pools', 'queue:default', 'results', run, `running:${claim.taskId}`];
    expect((await namespace.keys()).sort()).toEqual(names.map((name) => namespace.prefix + name));
  });

  it('forgets a finished run after an hour and others after a week', async () => {
    const [delivery] = await publishAndTake(node, [buildMessage()]);
    const runKey = (await namespace.keys()).find((key) => key.includes(':run:')) ?? '';
    const lifeHours = async () => Math.ceil((await namespace.redis.pttl(runKey)) / HOUR_MS);
    expect(await lifeHours()).toBe(7 * 24);
    const { claim } = await claimed(node, delivery, 'worker-1');
    expect(await lifeHours()).toBe(7 * 24);
    await node.claims.finish(claim, buildReport(reportOf(claim)));
    expect(await lifeHours()).toBe(1);
  });

  it('holds one entry per live worker, and no key of a cluster without workers', async () => {
    const registry = new RedisWorkerRegistry(namespace.connect());
    await registry.announce(buildWorker({ instance: 'long' }), 60_000);
    for (let i = 0; i < 20; i++) await registry.announce(buildWorker({ instance: `short-${i}` }), 1);
    await namespace.advance(5);
    await registry.announce(buildWorker({ instance: 'other' }), 1000);
    const [announcements, lives] = ['workers', 'worker-lives'].map((name) => namespace.prefix + name);
    expect((await namespace.redis.hkeys(announcements!)).sort()).toEqual(['long', 'other']);
    expect(await namespace.redis.zcard(lives!)).toBe(2);
    for (const key of [announcements!, lives!]) {
      const ms = await namespace.redis.pttl(key);
      expect(ms).toBeGreaterThan(30_000);
      expect(ms).toBeLessThanOrEqual(60_000);
    }
  });

  it('leaves out announcements that cannot be read', async () => {
    const registry = new RedisWorkerRegistry(namespace.connect());
    for (const instance of ['a', 'b', 'c', 'd']) await registry.announce(buildWorker({ instance }), 60_000);
    const worker = { ...buildWorker({ instance: 'd' }), colour: 'red' };
    await namespace.redis.hset(`${namespace.prefix}workers`, {
      a: '{',
      b: JSON.stringify({ ...worker, pools: [1] }),
      d: JSON.stringify(worker),
    });
    expect(await registry.list()).toEqual([buildWorker({ instance: 'c' }), worker]);
  });

  it('holds one entry per unfinished run and none of a finished one', async () => {
    const deliveries = await publishAndTake(node, [buildMessage(), buildMessage()]);
    const { claim } = await claimed(node, deliveries[0], 'worker-1');
    await node.claims.finish(claim, buildReport(reportOf(claim)));
    await node.queue.giveBack(deliveries);
    await take(node);
    const stream = `${namespace.prefix}queue:default`;
    expect(await namespace.redis.xlen(stream)).toBe(1);
    expect((await namespace.redis.xpending(stream, 'workers'))[0]).toBe(1);
    expect(await namespace.redis.zcard(`${namespace.prefix}running:${claim.taskId}`)).toBe(0);
  });

  it('drops the second copy of a message while the first one is run', async () => {
    const message = buildMessage();
    await node.queue.publish([message]);
    const runKey = (await namespace.keys()).find((key) => key.includes(':run:')) ?? '';
    await namespace.redis.del(runKey);
    expect(await node.queue.publish([message])).toEqual(['added']);
    const copies = await take(node);
    expect(idsOf(copies)).toEqual([message.event.id, message.event.id]);
    const { claim } = await claimed(node, copies[0], 'worker-1');
    expect(await node.claims.claim(copies[1]!, 'worker-2', 60_000)).toEqual({ outcome: 'held' });
    expect(await node.queue.depth()).toBe(1);
    await node.claims.finish(claim, buildReport(reportOf(claim)));
    expect(await node.queue.depth()).toBe(0);
  });

  it('drops a copy that comes when the run is finished', async () => {
    const message = buildMessage();
    await node.queue.publish([message]);
    const stream = `${namespace.prefix}queue:default`;
    await namespace.redis.xadd(stream, '*', 'json', JSON.stringify(message));
    const copies = await take(node);
    const { claim } = await claimed(node, copies[0], 'worker-1');
    await node.claims.finish(claim, buildReport(reportOf(claim)));
    expect(await node.claims.claim(copies[1]!, 'worker-2', 60_000)).toEqual({ outcome: 'finished' });
    expect(await namespace.redis.xlen(stream)).toBe(0);
  });

  it('drops the message of another event of a held slot', async () => {
    const message = buildMessage();
    await node.queue.publish([message]);
    const rival = { ...message, event: { ...message.event, id: 'rival' } };
    await namespace.redis.xadd(`${namespace.prefix}queue:default`, '*', 'json', JSON.stringify(rival));
    const [, delivery] = await take(node);
    expect(await node.claims.claim(delivery!, 'worker-1', 60_000)).toEqual({ outcome: 'held' });
    expect(await node.queue.depth()).toBe(1);
  });

  it('publishes a message again whose entry is gone, and knows that it was', async () => {
    const message = buildMessage();
    await node.queue.publish([message]);
    await namespace.redis.del(`${namespace.prefix}queue:default`);
    expect(await node.queue.states([message.event])).toEqual(['unknown']);
    expect(await node.queue.publish([message])).toEqual(['added']);
    expect(await node.queue.states([message.event])).toEqual(['queued']);
    expect(idsOf(await take(node))).toEqual([message.event.id]);
  });

  it('claims a message whose run key is gone, and takes a mark that it left for its own', async () => {
    const [delivery] = await publishAndTake(node, [buildMessage({ generationFloor: 3 })]);
    await claimed(node, delivery, 'worker-1', 60_000);
    for (const key of await namespace.keys()) if (key.includes(':run:')) await namespace.redis.del(key);
    const { claim, previous, isSaturated } = await claimed(node, delivery, 'worker-2');
    expect([claim.generation, previous, isSaturated]).toEqual([4, null, false]);
  });

  it('forgets takers that are gone and hold nothing', async () => {
    const stream = `${namespace.prefix}queue:default`;
    const takers = async () => {
      const consumers = await namespace.redis.call('XINFO', 'CONSUMERS', stream, 'workers');
      return (consumers as string[][]).map(([, name]) => name).sort();
    };
    await publishAndTake(node, [buildMessage()], 'holder');
    const [delivery] = await publishAndTake(node, [buildMessage()], 'gone');
    const { claim } = await claimed(node, delivery, 'gone');
    await node.claims.finish(claim, buildReport(reportOf(claim)));
    expect(await takers()).toEqual(['gone', 'gone#0', 'holder#0']);
    await namespace.advance(100);
    const request = { streams: [stream], taker: 'new', max: 1, waitMs: 0, reclaimAfterMs: HOUR_MS };
    await new StreamTaker(namespace.connect(), 'workers', 50).take({
      ...request,
      signal: new AbortController().signal,
    });
    expect((await takers()).filter((name) => name?.startsWith('gone'))).toEqual([]);
    expect(await takers()).toContain('holder#0');
  });

  it('gives back at once what several pools gave beyond max at the same moment', async () => {
    const pools = ['blue', 'red', 'green'];
    const batch = pools.map((pool) => buildMessage({ task: snapshotOf(buildTask({ pool })) }));
    /** Messages arrive between the look and the wait. */
    class Raced extends RedisConnection {
      private isFirst = true;
      override async evaluate(
        script: RedisScript,
        ...rest: [readonly string[], readonly (string | number)[]]
      ) {
        const answer = await super.evaluate(script, ...rest);
        if (script === TAKE && this.isFirst) await node.queue.publish(batch);
        if (script === TAKE) this.isFirst = false;
        return answer;
      }
    }
    const raced = new Raced({ url, namespace: namespace.name, logger: silent });
    try {
      const first = await take({ ...node, queue: new RedisQueue(raced) }, { pools, max: 1, waitMs: 20_000 });
      expect(first).toHaveLength(1);
      const rest = await take(node, { pools, taker: 'worker-2' });
      expect(idsOf([...first, ...rest]).sort()).toEqual(batch.map(({ event }) => event.id).sort());
    } finally {
      await raced.close();
    }
  });

  it('suits this server, also for an account that may not ask INFO', async () => {
    const user = `user-${namespace.name}`;
    await namespace.redis.call('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', '-info');
    try {
      await assertRedisFit(namespace.connect());
      const restricted = new URL(url);
      restricted.username = user;
      restricted.password = 'secret';
      const connection = namespace.connect(restricted.href);
      await assertRedisFit(connection);
      const queue = new RedisQueue(connection);
      const epoch = await queue.epoch();
      expect(await queue.epoch()).toBe(epoch);
      expect((await node.queue.epoch()).startsWith(`${epoch}/`)).toBe(true);
      await namespace.empty();
      expect(await queue.epoch()).not.toBe(epoch);
      await connection.close();
    } finally {
      await namespace.redis.call('ACL', 'DELUSER', user);
    }
  });
});
