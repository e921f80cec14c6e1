import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Claim } from '../../src/ports/claims.js';
import { type QueueMessage } from '../../src/ports/queue.js';
import {
  type BrokerHarness,
  claimed,
  finish,
  idsOf,
  NEVER_MS,
  publishAndTake,
  SHORT_MS,
  slotsOfOneTask,
  take,
  takeOver,
} from '../support/broker-harness.js';
import { until } from '../support/until.js';

/** What every Claims does for a task whose new runs take the place of old ones; part of `claimsSuite`. */
export function replacingSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims, under the overlap policy replace`, () => {
    let harness: BrokerHarness;
    let told: string[];
    let unsubscribe: () => void;
    beforeEach(async () => {
      harness = await open();
      told = [];
      unsubscribe = harness.stops.subscribe((id, reason) => told.push(`${id} ${reason}`));
    });
    afterEach(async () => {
      unsubscribe();
      await harness.close();
    });

    const slots = (count: number, limit: number) => slotsOfOneTask(count, limit, 'replace') as Four;
    type Four = [QueueMessage, QueueMessage, QueueMessage, QueueMessage];

    /** Publishes, takes and claims a message as a worker of its own. */
    async function arrive(message: QueueMessage, ttlMs = NEVER_MS) {
      const [delivery] = await publishAndTake(harness, [message]);
      return harness.claims.claim(delivery!, `worker of ${message.event.id}`, ttlMs);
    }
    async function start(message: QueueMessage, ttlMs = NEVER_MS): Promise<Claim> {
      const answer = await arrive(message, ttlMs);
      expect(answer).toMatchObject({ outcome: 'claimed', isSaturated: false, stop: null });
      return answer.outcome === 'claimed' ? answer.claim : expect.unreachable();
    }
    const renewed = async (...claims: Claim[]) => harness.claims.renew(claims, NEVER_MS);

    it('the run that runs is asked to stop, and the new one begins when it has ended', async () => {
      const [m0, m1] = slots(2, 1);
      const old = await start(m0);
      expect(await arrive(m1)).toEqual({ outcome: 'waiting' });
      expect(await renewed(old)).toEqual(['replaced']);
      expect(await take(harness)).toEqual([]);
      await finish(harness, old);
      const [turn] = await take(harness);
      const heir = await claimed(harness, turn, 'worker-2');
      expect(heir).toMatchObject({ claim: { executionId: m1.event.id }, isSaturated: false, stop: null });
      expect(await renewed(heir.claim)).toEqual(['alive']);
    });

    it('whoever listens hears of it', async () => {
      const [m0, ...newer] = slotsOfOneTask(200, 1, 'replace') as [QueueMessage, ...QueueMessage[]];
      await start(m0);
      // Who has only just begun to listen may miss a word.
      await until('the news', async () => {
        const next = newer.shift();
        if (next !== undefined) await arrive(next);
        return told.some((stop) => stop.endsWith(' replaced'));
      });
    });

    it('of several that wait only the newest is left, the others are handed out to be ended', async () => {
      const [m0, m1, m2] = slots(3, 1);
      const old = await start(m0);
      await arrive(m1);
      expect(await arrive(m2)).toEqual({ outcome: 'waiting' });
      const [replaced] = await take(harness);
      const ended = await claimed(harness, replaced, 'worker-2');
      expect(ended).toMatchObject({
        claim: { executionId: m1.event.id },
        isSaturated: false,
        stop: 'replaced',
      });
      expect(await finish(harness, ended.claim)).toBe(true);
      expect(await renewed(old)).toEqual(['replaced']);
      await finish(harness, old);
      expect(idsOf(await take(harness))).toEqual([m2.event.id]);
    });

    it('only the oldest runs above max_concurrent are stopped', async () => {
      const [m0, m1, m2, m3] = slots(4, 2);
      const [first, second] = [await start(m0), await start(m1)];
      await arrive(m2);
      expect(await renewed(first, second)).toEqual(['replaced', 'alive']);
      await finish(harness, first);
      const [turn] = await take(harness);
      const third = await claimed(harness, turn, 'worker-3');
      expect(await arrive(m3)).toEqual({ outcome: 'waiting' });
      expect(await renewed(second, third.claim)).toEqual(['replaced', 'alive']);
    });

    it('a run that is older than all that run is the one that does not run', async () => {
      const [m0, m1] = slots(2, 1);
      const newer = await start(m1);
      expect(await arrive(m0)).toMatchObject({ outcome: 'claimed', isSaturated: true, stop: null });
      expect(await renewed(newer)).toEqual(['alive']);
    });

    it('at most max_concurrent run, however many come at the same time, and the newest are among them', async () => {
      const messages = slotsOfOneTask(20, 2, 'replace');
      const deliveries = await publishAndTake(harness, messages);
      const answers = await Promise.all(
        deliveries.map((delivery, i) => harness.claims.claim(delivery, `worker-${i % 4}`, NEVER_MS)),
      );
      let live = answers.flatMap((a) => (a.outcome === 'claimed' ? [a] : []));
      const ran: string[] = [];
      const stopped: string[] = [];
      while (live.length > 0) {
        const running = live.filter(({ isSaturated, stop }) => !isSaturated && stop === null);
        expect(running.length).toBeLessThanOrEqual(2);
        const alive = await renewed(...running.map(({ claim }) => claim));
        for (const [i, { claim }] of running.entries())
          (alive[i] === 'alive' ? ran : stopped).push(claim.executionId);
        await Promise.all(live.map(({ claim }) => finish(harness, claim)));
        const turns = await take(harness);
        live = [];
        for (const turn of turns) live.push(await claimed(harness, turn, 'worker-5'));
      }
      expect(ran.sort()).toEqual(messages.slice(-2).map(({ event }) => event.id));
      expect(await harness.queue.depth()).toBe(0);
      expect(await harness.queue.states(messages.map(({ event }) => event))).toEqual(
        messages.map(() => 'finished'),
      );
    });

    it('a stop outlives the worker that was to obey it', async () => {
      const [m0, m1] = slots(2, 1);
      await start(m0, SHORT_MS);
      await arrive(m1);
      const heir = await claimed(harness, await takeOver(harness, 'heir'), 'heir');
      expect(heir).toMatchObject({ claim: { executionId: m0.event.id }, stop: 'replaced' });
      expect(heir.previous).not.toBeNull();
    });
  });
}
