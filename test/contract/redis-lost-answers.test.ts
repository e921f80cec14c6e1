import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type BrokerHarness, claimed, idsOf, publishAndTake, take } from '../support/broker-harness.js';
import { buildMessage } from '../support/builders.js';
import { RedisNamespace } from '../support/redis-namespace.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const url = inject('redisUrl');
const TAKER = 'worker-1';

describe('What Redis handed to a take that did not hear it', () => {
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

  /** Takes as a worker does, by whose clock dead ones are to be left alone for an hour. */
  const turn = () => take(node, { taker: TAKER, waitMs: 200, reclaimAfterMs: 3_600_000, max: 10 });
  const lostTurn = () => expect(turn()).rejects.toMatchObject({ code: 'unavailable' });
  const found = () =>
    until('the message', async () => {
      const deliveries = await turn().catch(() => []);
      return deliveries.length > 0 && deliveries;
    });
  const handedOut = async () => {
    const summary = await namespace.redis.xpending(`${namespace.prefix}queue:default`, 'workers');
    return Number(summary[0]);
  };

  it('because the answer was lost comes with the next take of that node', async () => {
    await turn();
    proxy.stall('answers');
    const message = buildMessage();
    await neighbour.queue.publish([message]);
    await lostTurn();
    expect(await handedOut()).toBe(1);
    proxy.restore();
    expect(idsOf(await found())).toEqual([message.event.id]);
  });

  it('because the call reached it only when it was given up comes as well', async () => {
    await turn();
    proxy.stall('requests');
    await lostTurn();
    const message = buildMessage();
    await neighbour.queue.publish([message]);
    proxy.restore();
    await until('the late call to take the message', async () => (await handedOut()) === 1);
    expect(idsOf(await found())).toEqual([message.event.id]);
  });

  it('comes as often as it takes, and what is claimed does not come again', async () => {
    const [first] = await publishAndTake(node, [buildMessage()], TAKER);
    await claimed(node, first, TAKER, 60_000);
    for (let n = 0; n < 2; n += 1) {
      proxy.stall('answers');
      const message = buildMessage();
      await neighbour.queue.publish([message]);
      await lostTurn();
      proxy.restore();
      const deliveries = await found();
      expect(idsOf(deliveries)).toEqual([message.event.id]);
      await claimed(node, deliveries[0], TAKER, 60_000);
    }
    expect(await turn()).toEqual([]);
    expect(await turn()).toEqual([]);
  });

  it('goes to nobody else before its time', async () => {
    await turn();
    proxy.stall('answers');
    await neighbour.queue.publish([buildMessage()]);
    await lostTurn();
    expect(await take(neighbour, { taker: 'worker-2', waitMs: 100, reclaimAfterMs: 3_600_000 })).toEqual([]);
    proxy.restore();
    expect(await found()).toHaveLength(1);
  });
});
