import { redis as redisKind } from '../support/servers/redis.js';
import { type StalledSide, TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { type Lane } from './lane.js';
import { type Measure, type Nemesis, seconds } from './nemesis.js';
import { type ClusterNode } from './nodes.js';
import { OwnServer } from './own-server.js';

const BACK_BOUND = 2000;
const dispatched = (at: number): Measure => ({ kind: 'dispatch', at });

/**
 * Promotes a replica that has missed the last writes, as Sentinel does when it could not see the primary; nobody uses the old one any more.
 * Workers are held up just before, so that messages lie in the replica whose claims it misses.
 */
async function failOver(lane: Lane): Promise<Measure> {
  const primary = lane.redis;
  const link = await TcpProxy.start(primary.url);
  const password = new URL(primary.url).password;
  const replica = await OwnServer.start(redisKind, password);
  const through = new URL(link.through(primary.url));
  await lane.onRedis(async (client) => {
    await client.config('SET', 'masterauth', password);
    await client.replicaof(through.hostname, Number(through.port));
    await until('the replica is in step', async () =>
      /master_link_status:up/.test(await client.info('replication')),
    );
  }, replica.url);
  lane.workers.forEach(({ redis }) => redis.stall('requests'));
  await seconds(1.2);
  link.cut();
  lane.workers.forEach(({ redis }) => redis.restore());
  await seconds(1.5);
  await lane.onRedis((client) => client.replicaof('NO', 'ONE'), replica.url);
  for (const { redis } of lane.nodes) {
    redis.retarget(replica.url);
    redis.cut();
  }
  const at = Date.now();
  lane.nodes.forEach(({ redis }) => redis.restore());
  lane.redis = replica;
  await link.close();
  await primary.remove();
  return dispatched(at);
}

async function restart(server: OwnServer, awaySec: number): Promise<Measure> {
  await server.kill();
  await seconds(awaySec);
  await server.restart();
  return dispatched(Date.now());
}

async function cut(proxies: readonly TcpProxy[], awaySec: number): Promise<Measure> {
  proxies.forEach((proxy) => proxy.cut());
  await seconds(awaySec);
  proxies.forEach((proxy) => proxy.restore());
  return dispatched(Date.now());
}

async function stall(proxy: TcpProxy, side: StalledSide, awaySec: number): Promise<Measure> {
  proxy.stall(side);
  await seconds(awaySec);
  proxy.restore();
  return dispatched(Date.now());
}

const linkOf = (lane: Lane, node: ClusterNode): TcpProxy =>
  node.role === 'worker' ? node.redis : lane.pick([node.redis, node.mysql]);
const someSide = (lane: Lane): StalledSide => lane.pick(['requests', 'answers', 'both'] as const);

export const storeNemeses: readonly Nemesis[] = [
  {
    name: 'Redis killed, back empty',
    seconds: 2,
    bound: BACK_BOUND,
    strike: (lane) => restart(lane.redis, lane.pick([0, 2])),
  },
  {
    name: 'Redis away for 20 s',
    seconds: 20,
    bound: BACK_BOUND,
    strike: (lane) =>
      cut(
        lane.nodes.map(({ redis }) => redis),
        20,
      ),
  },
  { name: 'Redis failover, writes lost', seconds: 4, bound: BACK_BOUND, strike: failOver },
  {
    name: 'MySQL killed and restarted',
    seconds: 3,
    bound: BACK_BOUND,
    strike: (lane) => restart(lane.mysql, lane.pick([0, 2])),
  },
  {
    name: "leader's connections cut",
    seconds: 7,
    bound: null,
    strike: async (lane) => cut([linkOf(lane, await lane.leader())], 7),
  },
  {
    name: "leader's connections stalled",
    seconds: 8,
    bound: null,
    strike: async (lane) => stall(linkOf(lane, await lane.leader()), someSide(lane), 8),
  },
  {
    name: "worker's connections cut",
    seconds: 7,
    bound: null,
    strike: (lane) => cut([lane.pick(lane.workers).redis], 7),
  },
  {
    name: "worker's connections stalled",
    seconds: 8,
    bound: null,
    strike: (lane) => stall(lane.pick(lane.workers).redis, someSide(lane), 8),
  },
];
