import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Claim } from '../../src/ports/claims.js';
import {
  type BrokerHarness,
  claimed,
  finish,
  idsOf,
  NO_PROGRESS,
  publishAndTake,
  publishOne,
  reporters,
  reportOf,
  SHORT_MS,
  take,
  takeOver,
  takeResults,
} from '../support/broker-harness.js';
import { buildMessage, buildReport } from '../support/builders.js';
import { lostDataSuite } from './claims-after-loss.suite.js';
import { begunSuite } from './claims-begun.suite.js';
import { marksSuite } from './claims-marks.suite.js';
import { queueingSuite } from './claims-overlap.suite.js';
import { replacingSuite } from './claims-replace.suite.js';
import { skippingSuite } from './claims-skip.suite.js';

const RETRY_AT = 4_102_444_800_456;

/** What every Claims does. */
export function claimsSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    describe('claiming', () => {
      it('gives one delivery to exactly one of 20', async () => {
        const delivery = await publishOne(harness);
        let openGate = () => {};
        const gate = new Promise<void>((resolve) => (openGate = resolve));
        const claiming = Array.from({ length: 20 }, async (_, i) => {
          await gate;
          return harness.claims.claim(delivery, `worker-${i}`, 60_000);
        });
        openGate();
        const outcomes = (await Promise.all(claiming)).map(({ outcome }) => outcome).sort();
        expect(outcomes).toEqual(['claimed', ...Array.from({ length: 19 }, () => 'held')]);
      });

      it('tells everything about a first claim', async () => {
        const delivery = await publishOne(harness);
        const { event, task } = delivery.message;
        expect(await harness.claims.claim(delivery, 'worker-1', 60_000)).toEqual({
          outcome: 'claimed',
          claim: {
            executionId: event.id,
            taskId: task.id,
            kind: event.kind,
            slot: event.slot,
            pool: task.pool,
            worker: 'worker-1',
            generation: 1,
            handle: delivery.handle,
          },
          isSaturated: false,
          stop: null,
          previous: null,
        });
        expect(await harness.claims.claim(delivery, 'worker-1', 60_000)).toEqual({ outcome: 'held' });
      });

      it('starts above the generation that the message knows of', async () => {
        const delivery = await publishOne(harness, buildMessage({ generationFloor: 7 }));
        const { claim, previous } = await claimed(harness, delivery, 'worker-1');
        expect(claim.generation).toBe(8);
        expect(previous).toBeNull();
      });

      it('leaves a message to its live holder when it comes too early, and neither keeps nor loses it', async () => {
        const first = await claimed(harness, await publishOne(harness), 'worker-1', 60_000);
        const early = await takeOver(harness, 'worker-2');
        expect(await harness.claims.claim(early, 'worker-2', 60_000)).toEqual({ outcome: 'held' });
        expect(await finish(harness, first.claim)).toBe(true);
        expect(await harness.queue.depth()).toBe(0);

        await claimed(harness, await publishOne(harness), 'worker-1', 3 * SHORT_MS);
        const second = await takeOver(harness, 'worker-2');
        expect(await harness.claims.claim(second, 'worker-2', 60_000)).toEqual({ outcome: 'held' });
        const heir = await claimed(harness, await takeOver(harness, 'worker-3', 3 * SHORT_MS), 'worker-3');
        expect(heir.claim.generation).toBe(2);
      });

      it('never hands out a finished message again', async () => {
        const delivery = await publishOne(harness);
        const { claim } = await claimed(harness, delivery, 'worker-1', 60_000);
        await finish(harness, claim);
        expect(await harness.claims.claim(delivery, 'worker-2', 60_000)).toEqual({ outcome: 'finished' });
        await harness.advance(SHORT_MS);
        expect(await take(harness, { taker: 'worker-2', reclaimAfterMs: SHORT_MS })).toEqual([]);
      });

      it('is for the next worker once its holder is dead, and tells what that one did', async () => {
        const first = await claimed(harness, await publishOne(harness), 'worker-1', SHORT_MS);
        await harness.claims.report(first.claim, buildReport(reportOf(first.claim)), {
          ...{ attempt: 2, failures: 1, receiptUntil: null, retryAt: RETRY_AT },
        });
        const second = await claimed(harness, await takeOver(harness, 'worker-2'), 'worker-2', SHORT_MS);
        expect(second.claim.generation).toBe(2);
        expect(second.previous).toEqual({
          worker: 'worker-1',
          generation: 1,
          attempt: 2,
          failures: 1,
          receiptUntil: null,
          retryAt: RETRY_AT,
          isHandedBack: false,
        });
        const third = await claimed(harness, await takeOver(harness, 'worker-3'), 'worker-3');
        expect(third.previous).toMatchObject({ worker: 'worker-2', generation: 2, attempt: 2, failures: 1 });
      });
    });

    describe('renewing', () => {
      it('keeps the message from being taken over', async () => {
        const lifeMs = 1500;
        const { claim } = await claimed(harness, await publishOne(harness), 'worker-1', lifeMs);
        for (let beat = 0; beat < 4; beat += 1) {
          await harness.advance(500);
          expect(await harness.claims.renew([claim], lifeMs)).toEqual(['alive']);
        }
        expect(await take(harness, { taker: 'worker-2', reclaimAfterMs: lifeMs })).toEqual([]);
        expect(await finish(harness, claim)).toBe(true);
      });

      it('brings a claim back that nobody took meanwhile', async () => {
        const delivery = await publishOne(harness);
        const { claim } = await claimed(harness, delivery, 'worker-1', SHORT_MS);
        await harness.advance(SHORT_MS);
        expect(await harness.claims.renew([claim], 60_000)).toEqual(['alive']);
        expect(await harness.claims.claim(delivery, 'worker-2', 60_000)).toEqual({ outcome: 'held' });
      });

      it('answers for each claim, in order', async () => {
        const deliveries = await publishAndTake(harness, [buildMessage(), buildMessage(), buildMessage()]);
        const claims: Claim[] = [];
        for (const delivery of deliveries) claims.push((await claimed(harness, delivery, 'worker-1')).claim);
        const [, second] = claims;
        if (second) await finish(harness, second);
        expect(await harness.claims.renew(claims, 60_000)).toEqual(['alive', 'lost', 'alive']);
        expect(await harness.claims.renew([], 60_000)).toEqual([]);
      });
    });

    it('refuses everything by a worker whose claim was overtaken', async () => {
      const stale = await claimed(harness, await publishOne(harness), 'stale', SHORT_MS);
      const { claim } = await claimed(harness, await takeOver(harness, 'heir'), 'heir', 60_000);
      const report = buildReport(reportOf(stale.claim));
      expect(
        await harness.claims.report(stale.claim, report, { ...NO_PROGRESS, attempt: 9, failures: 9 }),
      ).toBe(false);
      expect(await harness.claims.renew([stale.claim], 60_000)).toEqual(['lost']);
      expect(await harness.claims.handBack(stale.claim, report, NO_PROGRESS)).toBe(false);
      expect(await finish(harness, stale.claim)).toBe(false);
      expect(await harness.claims.renew([claim], 60_000)).toEqual(['alive']);
      expect(await finish(harness, claim)).toBe(true);
      expect(await finish(harness, stale.claim)).toBe(false);
      expect(await reporters(harness)).toEqual([['heir', 2]]);
    });

    it('refuses an earlier claim of the same worker', async () => {
      const stale = await claimed(harness, await publishOne(harness), 'worker-1', SHORT_MS);
      const again = await claimed(harness, await takeOver(harness, 'worker-1'), 'worker-1', 60_000);
      expect(again.previous).toMatchObject({ worker: 'worker-1', generation: 1 });
      expect(await harness.claims.renew([stale.claim, again.claim], 60_000)).toEqual(['lost', 'alive']);
      expect([await finish(harness, stale.claim), await finish(harness, again.claim)]).toEqual([false, true]);
      expect(await finish(harness, stale.claim)).toBe(false);
    });

    describe('finishing', () => {
      it('is idempotent, with one report', async () => {
        const { claim } = await claimed(harness, await publishOne(harness), 'worker-1');
        const report = buildReport({ ...reportOf(claim), status: 'success', evidence: { http_status: 200 } });
        expect(await harness.claims.finish(claim, report)).toBe(true);
        expect(await harness.claims.finish(claim, report)).toBe(true);
        expect((await takeResults(harness)).reports).toEqual([report]);
        expect(await harness.claims.report(claim, report, NO_PROGRESS)).toBe(false);
        expect(await harness.claims.renew([claim], 60_000)).toEqual(['lost']);
        expect(await harness.claims.handBack(claim, report, NO_PROGRESS)).toBe(false);
      });

      it('keeps reports in their order', async () => {
        const { claim } = await claimed(harness, await publishOne(harness), 'worker-1');
        const reports = [1, 2, 3].map((seq) => buildReport({ ...reportOf(claim), seq }));
        for (const report of reports.slice(0, 2)) {
          expect(
            await harness.claims.report(claim, report, { ...NO_PROGRESS, attempt: 1, failures: 0 }),
          ).toBe(true);
        }
        if (reports[2]) await harness.claims.finish(claim, reports[2]);
        expect((await takeResults(harness)).reports).toEqual(reports);
      });
    });

    describe('handing back', () => {
      it('lets another worker go on at once, with the progress', async () => {
        const { claim } = await claimed(harness, await publishOne(harness), 'worker-1', 60_000);
        const report = buildReport({ ...reportOf(claim), status: 'pending' });
        const waiting = take(harness, { taker: 'worker-2', waitMs: 20_000 });
        const progress = { attempt: 3, failures: 3, receiptUntil: null, retryAt: RETRY_AT };
        expect(await harness.claims.handBack(claim, report, progress)).toBe(true);
        const [delivery] = await waiting;
        expect(idsOf(delivery ? [delivery] : [])).toEqual([claim.executionId]);
        const next = await claimed(harness, delivery, 'worker-2', SHORT_MS);
        expect(next.claim.generation).toBe(2);
        expect(next.previous).toEqual({ worker: 'worker-1', generation: 1, ...progress, isHandedBack: true });
        expect((await takeResults(harness)).reports).toEqual([report]);

        const third = await claimed(harness, await takeOver(harness, 'worker-3'), 'worker-3');
        expect(third.previous).toMatchObject({ worker: 'worker-2', attempt: 3, isHandedBack: false });
      });

      it('can be repeated, without a second report or message', async () => {
        const { claim } = await claimed(harness, await publishOne(harness), 'worker-1', 60_000);
        const handBack = () => harness.claims.handBack(claim, buildReport(reportOf(claim)), NO_PROGRESS);
        expect([await handBack(), await handBack()]).toEqual([true, true]);
        expect(await harness.claims.renew([claim], 60_000)).toEqual(['lost']);
        expect((await takeResults(harness)).reports).toHaveLength(1);
        const deliveries = await take(harness);
        expect(deliveries).toHaveLength(1);
        await claimed(harness, deliveries[0], 'worker-2');
        expect(await handBack()).toBe(false);
      });
    });
  });
  marksSuite(name, open);
  queueingSuite(name, open);
  replacingSuite(name, open);
  skippingSuite(name, open);
  begunSuite(name, open);
  lostDataSuite(name, open);
}
