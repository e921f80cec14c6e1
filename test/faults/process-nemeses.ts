import { shiftedClock } from '../support/faketime.js';
import { CLAIM_TTL_MS, LEASE_MS, type Lane } from './lane.js';
import { type Measure, type Nemesis, seconds } from './nemesis.js';
import { type ClusterNode } from './nodes.js';

const LEASE_SEC = LEASE_MS / 1000;
const CLAIM_SEC = CLAIM_TTL_MS / 1000;
const LEADER_BOUND = LEASE_MS + 1000;
const WORKER_BOUND = CLAIM_TTL_MS + 2000;

async function kill(nodes: readonly ClusterNode[], kind: Measure['kind'], awaySec: number): Promise<Measure> {
  const at = Date.now();
  await Promise.all(nodes.map((node) => node.kill()));
  await seconds(awaySec);
  await Promise.all(nodes.map((node) => node.start()));
  return { kind, at };
}

async function freeze(node: ClusterNode, kind: Measure['kind'], frozenSec: number): Promise<Measure> {
  const at = Date.now();
  node.ax?.signal('SIGSTOP');
  await seconds(frozenSec);
  node.ax?.signal('SIGCONT');
  return { kind, at };
}

/** Restarts a coordinator and a worker with clocks that are wrong, has that coordinator lead, and mends both. */
async function shiftClocks(lane: Lane): Promise<Measure> {
  const shift = lane.pick([-10, 10]);
  const wrong = [await lane.standby(), lane.pick(lane.workers)];
  const env = await shiftedClock(shift);
  for (const node of wrong) {
    await node.stop();
    await node.start(env);
  }
  const right = await lane.leader();
  const at = Date.now();
  await right.stop();
  await seconds(8);
  await right.start();
  for (const node of wrong) {
    await node.stop();
    await node.start();
  }
  return { kind: 'next-slot', at };
}

export const processNemeses: readonly Nemesis[] = [
  {
    name: 'leader killed',
    seconds: LEASE_SEC + 2,
    bound: LEADER_BOUND,
    strike: async (lane) => kill([await lane.leader()], 'next-slot', LEASE_SEC + 2),
  },
  {
    name: 'standby killed',
    seconds: 2,
    bound: 1000,
    strike: async (lane) => kill([await lane.standby()], 'next-slot', 2),
  },
  {
    name: 'worker killed',
    seconds: CLAIM_SEC + 2,
    bound: WORKER_BOUND,
    strike: async (lane) => kill([await lane.busyWorker()], 'rerun', CLAIM_SEC + 2),
  },
  {
    name: 'leader and two workers killed',
    seconds: LEASE_SEC + 3,
    bound: LEADER_BOUND,
    strike: async (lane) => kill([await lane.leader(), ...lane.workers.slice(1)], 'next-slot', LEASE_SEC + 3),
  },
  {
    name: 'all killed',
    seconds: 3,
    bound: null,
    strike: async (lane) => {
      await kill(lane.nodes, 'next-slot', 1);
      return { kind: 'dispatch', at: Date.now() };
    },
  },
  {
    name: 'leader paused past its lease',
    seconds: LEASE_SEC + 3,
    bound: LEADER_BOUND,
    strike: async (lane) => freeze(await lane.leader(), 'next-slot', LEASE_SEC + 3),
  },
  {
    name: 'worker paused past its claims',
    seconds: CLAIM_SEC + 3,
    bound: WORKER_BOUND,
    strike: async (lane) => freeze(await lane.busyWorker(), 'rerun', CLAIM_SEC + 3),
  },
  {
    name: 'leader stopped gracefully',
    seconds: 3,
    bound: 200,
    strike: async (lane) => {
      const leader = await lane.leader();
      const at = Date.now();
      await leader.stop();
      await seconds(2);
      await leader.start();
      return { kind: 'next-slot', at };
    },
  },
  {
    name: 'workers stopped in turn',
    seconds: 4,
    bound: null,
    strike: async (lane) => {
      const at = Date.now();
      for (const worker of lane.workers) {
        await worker.stop();
        await worker.start();
      }
      return { kind: 'none', at };
    },
  },
  { name: 'clocks shifted by 10 s', seconds: 14, bound: 1000, strike: shiftClocks },
];
