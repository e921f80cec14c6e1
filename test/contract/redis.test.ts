import { inject } from 'vitest';
import { RedisLock } from '../../src/adapters/redis/redis-lock.js';
import { RedisReceipts } from '../../src/adapters/redis/redis-receipts.js';
import { RedisTimeReference } from '../../src/adapters/redis/redis-time-reference.js';
import { RedisWakeup } from '../../src/adapters/redis/redis-wakeup.js';
import { type RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { RedisNodeRegistry } from '../../src/adapters/redis/redis-node-registry.js';
import { RedisWorkerRegistry } from '../../src/adapters/redis/redis-worker-registry.js';
import { buildNode, buildWorker } from '../support/pools.js';
import { RedisNamespace } from '../support/redis-namespace.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { claimsSuite } from './claims.suite.js';
import { lastOutcomesSuite } from './last-outcomes.suite.js';
import { lockSuite } from './lock.suite.js';
import { queueSuite } from './queue.suite.js';
import { receiptsSuite } from './receipts.suite.js';
import { resultsSuite } from './results.suite.js';
import { timeReferenceSuite } from './time-reference.suite.js';
import { stopsSuite } from './stops.suite.js';
import { wakeupSuite } from './wakeup.suite.js';
import { registrySuite } from './registry.suite.js';

const url = inject('redisUrl');

async function openBehindProxy() {
  const namespace = new RedisNamespace(url);
  const proxy = await TcpProxy.start(url);
  return {
    namespace,
    connection: namespace.connect(proxy.through(url)),
    outage: { begin: () => proxy.cut(), end: () => proxy.restore() },
    close: async () => {
      await namespace.close();
      await proxy.close();
    },
  };
}

lockSuite(
  'RedisLock',
  async () => {
    const { namespace, connection, outage, close } = await openBehindProxy();
    return { lock: new RedisLock(connection), advance: (ms) => namespace.advance(ms), outage, close };
  },
  { canBeAway: true },
);

wakeupSuite(
  'RedisWakeup',
  async () => {
    const { namespace, connection, outage, close } = await openBehindProxy();
    const elsewhere = new RedisNamespace(url);
    return {
      nodes: [new RedisWakeup(connection), new RedisWakeup(namespace.connect())],
      stranger: new RedisWakeup(elsewhere.connect()),
      outage,
      close: async () => {
        await elsewhere.close();
        await close();
      },
    };
  },
  { canBeAway: true },
);

receiptsSuite(
  'RedisReceipts',
  async () => {
    const { namespace, connection, outage, close } = await openBehindProxy();
    return {
      nodes: [new RedisReceipts(connection), new RedisReceipts(namespace.connect())],
      advance: (ms) => namespace.advance(ms),
      loseData: () => namespace.empty(),
      outage,
      close,
    };
  },
  { canBeAway: true },
);

const openRegistry =
  <R>(on: (connection: RedisConnection) => R) =>
  async () => {
    const { namespace, connection, outage, close } = await openBehindProxy();
    const elsewhere = new RedisNamespace(url);
    return {
      nodes: [on(connection), on(namespace.connect())] as const,
      stranger: on(elsewhere.connect()),
      advance: (ms: number) => namespace.advance(ms),
      outage,
      close: async () => {
        await elsewhere.close();
        await close();
      },
    };
  };
registrySuite(
  'RedisWorkerRegistry',
  openRegistry((connection) => new RedisWorkerRegistry(connection)),
  { canBeAway: true, build: (instance, running) => buildWorker({ instance, running }) },
);
registrySuite(
  'RedisNodeRegistry',
  openRegistry((connection) => new RedisNodeRegistry(connection)),
  { canBeAway: true, build: (instance, clockOffsetMs) => buildNode({ instance, clockOffsetMs }) },
);

timeReferenceSuite('RedisTimeReference', async () => {
  const { namespace, connection, outage, close } = await openBehindProxy();
  return {
    nodes: [new RedisTimeReference(connection), new RedisTimeReference(namespace.connect())],
    direct: () => namespace.serverTime(),
    advance: (ms) => namespace.advance(ms),
    outage,
    close,
  };
});

const openBroker = async () => new RedisNamespace(url).broker();

queueSuite('RedisQueue', openBroker, { holdsText: true });
claimsSuite('RedisClaims', openBroker);
stopsSuite('RedisStops', openBroker);
resultsSuite('RedisResults', openBroker, { holdsText: true });
lastOutcomesSuite('RedisLastOutcomes', openBroker);
