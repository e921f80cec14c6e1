import { setTimeout as pause } from 'node:timers/promises';
import { type Lane } from './lane.js';
import { type Manners } from './logging-callee.js';
import { type Measure, type Nemesis, seconds } from './nemesis.js';

const QUEUE = 'ax:{faults}:queue:default';

/** For some seconds adds a copy of whatever is in the queue, once or twice. */
async function duplicate(lane: Lane, lengthSec: number): Promise<Measure> {
  const at = Date.now();
  await lane.onRedis(async (client) => {
    const copied = new Map<string, number>();
    while (Date.now() < at + lengthSec * 1000) {
      for (const [, fields] of await client.xrange(QUEUE, '-', '+')) {
        const payload = fields.join();
        const copies = copied.get(payload) ?? 0;
        if (copies >= 2) continue;
        copied.set(payload, copies + 1);
        await client.xadd(QUEUE, '*', ...fields);
      }
      await pause(5);
    }
  });
  return { kind: 'none', at };
}

async function misbehave(lane: Lane, manners: Manners, lengthSec: number): Promise<Measure> {
  lane.callee.manners = manners;
  await seconds(lengthSec);
  lane.callee.manners = 'good';
  return { kind: 'none', at: Date.now() };
}

export const trafficNemeses: readonly Nemesis[] = [
  { name: 'messages delivered again', seconds: 6, bound: null, strike: (lane) => duplicate(lane, 6) },
  { name: 'callee slow', seconds: 5, bound: null, strike: (lane) => misbehave(lane, 'slow', 5) },
  { name: 'callee resetting', seconds: 5, bound: null, strike: (lane) => misbehave(lane, 'resetting', 5) },
  {
    name: 'callee dead',
    seconds: 5,
    bound: null,
    strike: async (lane) => {
      await lane.callee.die();
      await seconds(5);
      await lane.callee.revive();
      return { kind: 'dispatch', at: Date.now() };
    },
  },
];
