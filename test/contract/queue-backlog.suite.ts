import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BrokerHarness, claimed, inPool, reportOf, take } from '../support/broker-harness.js';
import { buildReport } from '../support/builders.js';

/** The part of Queue that says what waits in which lane. */
export function backlogSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name}: backlog by lane`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    const backlog = async () => {
      const lanes = await harness.queue.backlog();
      return Object.fromEntries(
        lanes.filter(({ waiting, taken }) => waiting + taken > 0).map(({ lane, ...rest }) => [lane, rest]),
      );
    };

    it('tells what waits from what was taken, lane by lane, and what neither counts', async () => {
      expect(await backlog()).toEqual({});
      await harness.queue.publish([inPool('a'), inPool('a'), inPool('a'), inPool('b')]);
      expect(await backlog()).toMatchObject({ a: { waiting: 3, taken: 0 }, b: { waiting: 1, taken: 0 } });
      const [first, second] = await take(harness, { pools: ['a'], max: 2 });
      expect(await backlog()).toMatchObject({ a: { waiting: 1, taken: 2 }, b: { waiting: 1, taken: 0 } });
      const { claim } = await claimed(harness, first, 'worker-1');
      await harness.claims.finish(claim, buildReport(reportOf(claim)));
      if (second !== undefined) await harness.queue.giveBack([second]);
      expect(await backlog()).toMatchObject({ a: { waiting: 2, taken: 0 } });
      expect(await harness.queue.depth()).toBe(3);
    });

    it('tells how long the oldest has waited that nobody took', async () => {
      await harness.queue.publish([inPool('a')]);
      await harness.advance(40);
      await harness.queue.publish([inPool('a')]);
      const { a } = await backlog();
      expect(a?.oldestWaitMs).toBeGreaterThanOrEqual(40);
      await take(harness, { pools: ['a'], max: 1 });
      const later = (await backlog())['a'];
      expect(later?.oldestWaitMs).toBeLessThan(a?.oldestWaitMs ?? 0);
      await take(harness, { pools: ['a'], max: 1 });
      expect((await backlog())['a']).toEqual({ waiting: 0, taken: 2, oldestWaitMs: 0 });
    });
  });
}
