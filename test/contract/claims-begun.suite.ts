import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BrokerHarness,
  claimed,
  NEVER_MS,
  NO_PROGRESS,
  publishAndTake,
  publishOne,
  reportOf,
  SHORT_MS,
  slotsOfOneTask,
  takeOver,
  takeResults,
} from '../support/broker-harness.js';
import { buildReport } from '../support/builders.js';
import { type Delivery } from '../../src/ports/queue.js';

/** What every Claims does with the report that a run begins; part of `claimsSuite`. */
export function begunSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims, a report that comes with the claim`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    const begunBy = ({ message: { event } }: Delivery, worker: string) =>
      buildReport({ executionId: event.id, taskId: event.taskId, worker, generation: 1, seq: 0 });
    const claimWith = (delivery: Delivery, worker: string, ttlMs = NEVER_MS) =>
      harness.claims.claim(delivery, worker, ttlMs, { begun: begunBy(delivery, worker) });
    const waiting = async () => (await takeResults(harness)).reports;

    it('is queued once by a first claim, however many contend', async () => {
      const delivery = await publishOne(harness);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => claimWith(delivery, `worker-${i}`)),
      );
      const winner = answers.findIndex(({ outcome }) => outcome === 'claimed');
      expect(await waiting()).toEqual([begunBy(delivery, `worker-${winner}`)]);
    });

    it('counts attempt 1 as begun for the next worker', async () => {
      await claimWith(await publishOne(harness), 'worker-1', SHORT_MS);
      const next = await claimed(harness, await takeOver(harness, 'worker-2'), 'worker-2');
      expect(next.previous).toMatchObject({ worker: 'worker-1', attempt: 1, failures: 0 });
    });

    it('is left out when the run was claimed before', async () => {
      await claimWith(await publishOne(harness), 'worker-1', SHORT_MS);
      expect(await waiting()).toHaveLength(1);
      const answer = await claimWith(await takeOver(harness, 'worker-2'), 'worker-2');
      expect(answer).toMatchObject({ outcome: 'claimed', claim: { generation: 2 } });
      expect(await waiting()).toEqual([]);
    });

    it('is left out when there is no room to run', async () => {
      const [first, second] = await publishAndTake(harness, slotsOfOneTask(2, 1));
      if (first === undefined || second === undefined) throw new Error('nothing taken');
      await claimWith(first, 'worker-1');
      expect(await claimWith(second, 'worker-1')).toMatchObject({ isSaturated: true, previous: null });
      expect((await waiting()).map(({ executionId }) => executionId)).toEqual([first.message.event.id]);
    });

    it('is undone by handing back with attempt 0', async () => {
      const { claim } = await claimed(harness, await publishOne(harness), 'worker-1');
      const report = buildReport({ ...reportOf(claim), status: 'pending' });
      await harness.claims.report(claim, buildReport(reportOf(claim)), {
        ...NO_PROGRESS,
        attempt: 1,
        failures: 0,
      });
      await harness.claims.handBack(claim, report, NO_PROGRESS);
      const next = await claimed(harness, await takeOver(harness, 'worker-2', 1), 'worker-2');
      expect(next.previous).toMatchObject({ attempt: 0, failures: 0, isHandedBack: true });
    });
  });

  describe(`${name} as Claims, abandoning`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it('forgets the run, its message and its mark, and leaves the report', async () => {
      const [first, second] = await publishAndTake(harness, slotsOfOneTask(2, 1));
      const { claim } = await claimed(harness, first, 'worker-1');
      const report = buildReport({ ...reportOf(claim), status: 'pending' });
      expect(await harness.claims.abandon(claim, report)).toBe(true);
      expect((await takeResults(harness)).reports).toEqual([report]);
      expect(await harness.queue.states(first === undefined ? [] : [first.message.event])).toEqual([
        'unknown',
      ]);
      expect(await harness.queue.depth()).toBe(1);
      expect((await claimed(harness, second, 'worker-1')).isSaturated).toBe(false);
      expect(await harness.queue.publish(first === undefined ? [] : [first.message])).toEqual(['added']);
    });

    it('is refused to a claim that was overtaken', async () => {
      const stale = await claimed(harness, await publishOne(harness), 'worker-1', SHORT_MS);
      const { claim } = await claimed(harness, await takeOver(harness, 'worker-2'), 'worker-2');
      const report = buildReport({ ...reportOf(stale.claim), status: 'pending' });
      expect(await harness.claims.abandon(stale.claim, report)).toBe(false);
      expect((await takeResults(harness)).reports).toEqual([]);
      expect(await harness.claims.renew([claim], NEVER_MS)).toEqual(['alive']);
    });
  });
}
