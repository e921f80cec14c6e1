import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BrokerHarness,
  claimed,
  finish,
  NO_PROGRESS,
  publishAndTake,
  reportOf,
  SHORT_MS,
  slotsOfOneTask,
  take,
  takeOver,
} from '../support/broker-harness.js';
import { buildReport } from '../support/builders.js';

/** Epoch ms: long after any test. */
const FAR_OFF = 4_102_444_800_000;

/** What every Claims does about running marks; part of `claimsSuite`. */
export function marksSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims, its running marks`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it('are at most max_concurrent, whoever claims at the same time', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(30, 3));
      const answers = await Promise.all(
        deliveries.map((delivery, i) => claimed(harness, delivery, `worker-${i % 4}`)),
      );
      expect(answers.filter(({ isSaturated }) => !isSaturated)).toHaveLength(3);
    });

    it('are free again when a claim that holds one ends, and only then', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(5, 1));
      const first = await claimed(harness, deliveries[0], 'worker-1');
      const second = await claimed(harness, deliveries[1], 'worker-1');
      expect([first.isSaturated, second.isSaturated]).toEqual([false, true]);
      await finish(harness, second.claim);
      expect((await claimed(harness, deliveries[2], 'worker-1')).isSaturated).toBe(true);
      await finish(harness, first.claim);
      const fourth = await claimed(harness, deliveries[3], 'worker-1');
      expect(fourth.isSaturated).toBe(false);
      await harness.claims.handBack(fourth.claim, buildReport(reportOf(fourth.claim)), NO_PROGRESS);
      expect((await claimed(harness, deliveries[4], 'worker-1')).isSaturated).toBe(false);
    });

    it('belong to one task each', async () => {
      const deliveries = await publishAndTake(harness, [...slotsOfOneTask(1, 1), ...slotsOfOneTask(1, 1)]);
      for (const delivery of deliveries) {
        expect((await claimed(harness, delivery, 'worker-1')).isSaturated).toBe(false);
      }
    });

    it('die with their worker', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(4, 2));
      await claimed(harness, deliveries[0], 'dead', SHORT_MS);
      await claimed(harness, deliveries[1], 'dead', SHORT_MS);
      await harness.advance(SHORT_MS);
      expect((await claimed(harness, deliveries[2], 'alive')).isSaturated).toBe(false);
      expect((await claimed(harness, deliveries[3], 'alive')).isSaturated).toBe(false);
      const again = await takeOver(harness, 'alive');
      expect((await claimed(harness, again, 'alive')).isSaturated).toBe(true);
    });

    it('stay with a run whose target works on while its receipt is awaited, whoever waits for it', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(4, 1));
      const first = await claimed(harness, deliveries[0], 'dead', SHORT_MS);
      const progress = { ...NO_PROGRESS, attempt: 1, receiptUntil: FAR_OFF };
      await harness.claims.report(first.claim, buildReport(reportOf(first.claim)), progress);
      await harness.advance(SHORT_MS);
      expect((await claimed(harness, deliveries[1], 'worker-1')).isSaturated).toBe(true);
      const second = await claimed(harness, await takeOver(harness, 'worker-2'), 'worker-2');
      expect(second).toMatchObject({ isSaturated: false, previous: { receiptUntil: FAR_OFF } });
      await harness.claims.handBack(second.claim, buildReport(reportOf(second.claim)), progress);
      expect((await claimed(harness, deliveries[2], 'worker-1')).isSaturated).toBe(true);
      const [again] = await take(harness, { taker: 'worker-3' });
      const third = await claimed(harness, again, 'worker-3');
      expect(third).toMatchObject({ isSaturated: false, claim: { generation: 3 } });
      expect(await harness.claims.renew([third.claim], 60_000)).toEqual(['alive']);
      await finish(harness, third.claim);
      expect((await claimed(harness, deliveries[3], 'worker-1')).isSaturated).toBe(false);
    });

    it('stay with a run that has begun and is handed over, for as long as its claim would have lived', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(3, 1));
      const first = await claimed(harness, deliveries[0], 'drained', SHORT_MS);
      const begun = { ...NO_PROGRESS, attempt: 1 };
      await harness.claims.handBack(first.claim, buildReport(reportOf(first.claim)), begun);
      expect((await claimed(harness, deliveries[1], 'worker-1')).isSaturated).toBe(true);
      const [again] = await take(harness, { taker: 'worker-2' });
      const heir = await claimed(harness, again, 'worker-2', SHORT_MS);
      expect(heir).toMatchObject({ isSaturated: false, claim: { generation: 2 } });
      await harness.claims.handBack(heir.claim, buildReport(reportOf(heir.claim)), begun);
      await harness.advance(SHORT_MS);
      expect((await claimed(harness, deliveries[2], 'worker-1')).isSaturated).toBe(false);
    });

    it('stay with a run that is handed over between two attempts, until the second is due', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(2, 1));
      const first = await claimed(harness, deliveries[0], 'drained', SHORT_MS);
      const failed = { ...NO_PROGRESS, attempt: 1, failures: 1, retryAt: FAR_OFF };
      await harness.claims.handBack(first.claim, buildReport(reportOf(first.claim)), failed);
      await harness.advance(SHORT_MS);
      expect((await claimed(harness, deliveries[1], 'worker-1')).isSaturated).toBe(true);
      const [again] = await take(harness, { taker: 'worker-2' });
      const heir = await claimed(harness, again, 'worker-2');
      expect(heir).toMatchObject({ isSaturated: false, previous: { retryAt: FAR_OFF, isHandedBack: true } });
    });

    it.each(['dead', 'drained'])(
      'live no longer for a receipt that came, once their worker is %s',
      async (end) => {
        const deliveries = await publishAndTake(harness, slotsOfOneTask(2, 1));
        const { claim } = await claimed(harness, deliveries[0], 'worker-1', SHORT_MS);
        const report = buildReport(reportOf(claim));
        const failed = { ...NO_PROGRESS, attempt: 1, failures: 1 };
        await harness.claims.report(claim, report, { ...failed, failures: 0, receiptUntil: FAR_OFF });
        if (end === 'dead') await harness.claims.report(claim, report, failed);
        else await harness.claims.handBack(claim, report, failed);
        await harness.advance(SHORT_MS);
        expect((await claimed(harness, deliveries[1], 'worker-2')).isSaturated).toBe(false);
      },
    );

    it('are free when the receipt is awaited no more and their worker is dead', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(2, 1));
      const { claim } = await claimed(harness, deliveries[0], 'dead', SHORT_MS);
      const progress = { ...NO_PROGRESS, attempt: 1, receiptUntil: 1 };
      await harness.claims.report(claim, buildReport(reportOf(claim)), progress);
      await harness.advance(SHORT_MS);
      expect((await claimed(harness, deliveries[1], 'alive')).isSaturated).toBe(false);
    });

    it('live as long as their claim is renewed', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(2, 1));
      const { claim } = await claimed(harness, deliveries[0], 'worker-1', SHORT_MS);
      expect(await harness.claims.renew([claim], 60_000)).toEqual(['alive']);
      await harness.advance(SHORT_MS);
      expect((await claimed(harness, deliveries[1], 'worker-2')).isSaturated).toBe(true);
    });

    it('are not taken back by a paused worker whose place was taken', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(2, 1));
      const paused = await claimed(harness, deliveries[0], 'paused', SHORT_MS);
      await harness.advance(SHORT_MS);
      const { isSaturated } = await claimed(harness, deliveries[1], 'worker-2');
      expect(isSaturated).toBe(false);
      expect(await harness.claims.renew([paused.claim], 60_000)).toEqual(['lost']);
      expect(await finish(harness, paused.claim)).toBe(false);
      const heir = await claimed(harness, await takeOver(harness, 'worker-3'), 'worker-3');
      expect(heir).toMatchObject({ isSaturated: true, claim: { generation: 2 } });
    });

    it('are not given to saturated claims by renewal', async () => {
      const deliveries = await publishAndTake(harness, slotsOfOneTask(3, 1));
      const marked = await claimed(harness, deliveries[0], 'worker-1');
      const saturated = await claimed(harness, deliveries[1], 'worker-1');
      expect(await harness.claims.renew([saturated.claim], 60_000)).toEqual(['alive']);
      await finish(harness, marked.claim);
      expect(await harness.claims.renew([saturated.claim], 60_000)).toEqual(['alive']);
      expect((await claimed(harness, deliveries[2], 'worker-1')).isSaturated).toBe(false);
    });
  });
}
