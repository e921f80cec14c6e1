import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Claim } from '../../src/ports/claims.js';
import {
  type BrokerHarness,
  claimed,
  finish,
  NO_PROGRESS,
  publishOne,
  reporters,
  reportOf,
  SHORT_MS,
  slotsOfOneTask,
} from '../support/broker-harness.js';
import { buildMessage, buildReport } from '../support/builders.js';

/** What every Claims does when its store comes back empty; part of `claimsSuite`. */
export function lostDataSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims, when its data was lost`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it('asserts the claim again, and its mark', async () => {
      const [message, next] = slotsOfOneTask(2, 1);
      const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1', 60_000);
      await harness.loseData();
      expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['unknown']);
      expect(await harness.claims.renew([claim], 60_000)).toEqual(['alive']);
      expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['claimed']);
      expect((await claimed(harness, await publishOne(harness, next), 'worker-2')).isSaturated).toBe(true);
      expect(await finish(harness, claim)).toBe(true);
      expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['finished']);
    });

    it('keeps the place of a run whose attempt is reported delivered before its claim is renewed', async () => {
      const [message, next] = slotsOfOneTask(2, 1);
      const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1', 60_000);
      await harness.loseData();
      const receiptUntil = (await harness.now()) + 60_000;
      const delivered = { ...NO_PROGRESS, attempt: 1, receiptUntil };
      expect(await harness.claims.report(claim, buildReport(reportOf(claim)), delivered)).toBe(true);
      expect((await claimed(harness, await publishOne(harness, next), 'worker-2')).isSaturated).toBe(true);
    });

    it('takes the final report of a run that it has forgotten', async () => {
      const { claim } = await claimed(harness, await publishOne(harness), 'worker-1', 60_000);
      await harness.loseData();
      expect([await finish(harness, claim), await finish(harness, claim)]).toEqual([true, true]);
      expect(await reporters(harness)).toEqual([['worker-1', 1]]);
      expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['finished']);
    });

    it('takes reports and a handing back, and the message is published again with what they said', async () => {
      const message = buildMessage();
      const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1', 60_000);
      await harness.loseData();
      const report = buildReport(reportOf(claim));
      expect(await harness.claims.report(claim, report, { ...NO_PROGRESS, attempt: 2, failures: 1 })).toBe(
        true,
      );
      expect(await harness.claims.renew([claim], 60_000)).toEqual(['alive']);
      expect(await harness.claims.handBack(claim, report, { ...NO_PROGRESS, attempt: 2, failures: 2 })).toBe(
        true,
      );
      expect(await harness.queue.states([message.event])).toEqual(['unknown']);
      const { claim: next, previous } = await claimed(
        harness,
        await publishOne(harness, message),
        'worker-2',
      );
      expect(next.generation).toBe(2);
      expect(previous).toMatchObject({ worker: 'worker-1', attempt: 2, failures: 2, isHandedBack: true });
    });

    it('hands the run to another worker when the one that asserted it dies, and says that it had begun', async () => {
      const message = buildMessage();
      const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1', 60_000);
      await harness.loseData();
      await harness.claims.renew([claim], SHORT_MS);
      expect(await harness.queue.publish([message])).toEqual(['known']);
      await harness.advance(SHORT_MS);
      expect(await harness.queue.states([message.event])).toEqual(['unknown']);
      const { claim: next, previous } = await claimed(
        harness,
        await publishOne(harness, message),
        'worker-2',
      );
      expect(next.generation).toBe(2);
      expect(previous).toMatchObject({ worker: 'worker-1', attempt: 1, isHandedBack: false });
      expect(await finish(harness, claim)).toBe(false);
      expect(await finish(harness, next)).toBe(true);
    });

    it('refuses the delivery of a message that it has lost', async () => {
      const message = buildMessage();
      const delivery = await publishOne(harness, message);
      await harness.loseData();
      await harness.advance(1); // A handle may come again within the millisecond of the loss.
      expect(await harness.claims.claim(delivery, 'worker-1', 60_000)).toEqual({ outcome: 'finished' });
      const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-2');
      expect(await harness.claims.claim(delivery, 'worker-1', 60_000)).toEqual({ outcome: 'finished' });
      expect(await finish(harness, claim)).toBe(true);
    });
  });
}

const claimedEvent = ({ executionId, taskId, kind, slot }: Claim) => ({
  id: executionId,
  taskId,
  kind,
  slot,
});
