import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Claim } from '../../src/ports/claims.js';
import { type QueueMessage } from '../../src/ports/queue.js';
import {
  type BrokerHarness,
  claimed,
  finish,
  idsOf,
  NEVER_MS,
  NO_PROGRESS,
  publishAndTake,
  publishOne,
  reportOf,
  SHORT_MS,
  slotsOfOneTask,
  take,
  takeOver,
  takeResults,
} from '../support/broker-harness.js';
import { buildEvent, buildMessage, buildReport } from '../support/builders.js';
import { until } from '../support/until.js';

/** What every Stops does, with the Claims, Queue and Results of the same broker. */
export function stopsSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Stops`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    const cancel = ({ event }: QueueMessage) => {
      const verdict = { executionId: event.id, taskId: event.taskId, generation: 0, worker: null };
      return harness.stops.cancel(
        { ...event, executionId: event.id },
        {
          unbegun: buildReport({ ...verdict, status: 'skipped', reason: 'cancelled' }),
          begun: buildReport({ ...verdict, status: 'fail', reason: 'cancelled' }),
        },
      );
    };
    const verdicts = async () => (await takeResults(harness)).reports.map(({ status }) => status);
    const stateOf = async ({ event }: QueueMessage) => (await harness.queue.states([event]))[0];
    const renewed = async (claim: Claim) => (await harness.claims.renew([claim], NEVER_MS))[0];

    /** It ended for good: nothing of it is left to take, and publishing it again brings nothing back. */
    async function expectEnded(message: QueueMessage, verdict: string): Promise<void> {
      expect(await stateOf(message)).toBe('finished');
      expect(await verdicts()).toEqual([verdict]);
      expect(await harness.queue.publish([message])).toEqual(['known']);
      expect(await take(harness)).toEqual([]);
      expect(await cancel(message)).toBe('finished');
      expect(await verdicts()).toEqual([]);
    }

    describe('cancels a run that nobody runs,', () => {
      it('one that was never published: a message that comes later runs nothing', async () => {
        const message = buildMessage();
        expect(await cancel(message)).toBe('ended');
        await expectEnded(message, 'skipped');
      });

      it('one that is queued', async () => {
        const message = buildMessage();
        await harness.queue.publish([message]);
        expect(await cancel(message)).toBe('ended');
        await expectEnded(message, 'skipped');
        expect(await harness.queue.depth()).toBe(0);
      });

      it('one that was taken and is about to be claimed', async () => {
        const delivery = await publishOne(harness);
        expect(await cancel(delivery.message)).toBe('ended');
        expect(await harness.claims.claim(delivery, 'worker-1', NEVER_MS)).toEqual({ outcome: 'finished' });
        await harness.queue.giveBack([delivery]);
        await expectEnded(delivery.message, 'skipped');
      });

      it('one that waits its turn, without a gap in the line', async () => {
        const messages = slotsOfOneTask(3, 1, 'queue') as [QueueMessage, QueueMessage, QueueMessage];
        const [first, second, third] = await publishAndTake(harness, messages);
        const { claim } = await claimed(harness, first, 'worker-1');
        for (const delivery of [second!, third!]) await harness.claims.claim(delivery, 'worker-1', NEVER_MS);
        expect(await cancel(messages[1])).toBe('ended');
        await expectEnded(messages[1], 'skipped');
        await finish(harness, claim);
        expect(idsOf(await take(harness))).toEqual([messages[2].event.id]);
      });

      it('one whose turn it is: the next one gets the turn', async () => {
        const messages = slotsOfOneTask(3, 1, 'queue') as [QueueMessage, QueueMessage, QueueMessage];
        const [first, ...rest] = await publishAndTake(harness, messages);
        const { claim } = await claimed(harness, first, 'worker-1');
        for (const delivery of rest) await harness.claims.claim(delivery, 'worker-1', NEVER_MS);
        await finish(harness, claim);
        expect(await cancel(messages[1])).toBe('ended');
        expect(idsOf(await take(harness))).toEqual([messages[2].event.id]);
      });

      it('one that was handed back between two attempts', async () => {
        const message = buildMessage();
        const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1');
        const report = buildReport({ ...reportOf(claim), status: 'pending' });
        await harness.claims.handBack(claim, report, { ...NO_PROGRESS, attempt: 1, failures: 1 });
        await harness.results.acknowledge(await takeResults(harness));
        expect(await cancel(message)).toBe('ended');
        await expectEnded(message, 'fail');
      });

      it('one whose worker is dead, which cannot come back to it', async () => {
        const message = buildMessage();
        const { claim } = await claimed(harness, await publishOne(harness, message), 'dead', SHORT_MS);
        const progress = { attempt: 1, failures: 0, receiptUntil: 4_102_444_800_123, retryAt: null };
        await harness.claims.report(claim, buildReport(reportOf(claim)), progress);
        await harness.results.acknowledge(await takeResults(harness));
        await harness.advance(SHORT_MS);
        expect(await cancel(message)).toBe('ended');
        expect(await renewed(claim)).toBe('lost');
        expect(await finish(harness, claim)).toBe(false);
        await expectEnded(message, 'fail');
      });

      it('and frees its place', async () => {
        const [m0, m1] = slotsOfOneTask(2, 1, 'queue') as [QueueMessage, QueueMessage];
        const [first, second] = await publishAndTake(harness, [m0, m1]);
        await claimed(harness, first, 'dead', SHORT_MS);
        await harness.claims.claim(second!, 'worker-1', NEVER_MS);
        await harness.advance(SHORT_MS);
        expect(await cancel(m0)).toBe('ended');
        expect((await claimed(harness, (await take(harness))[0], 'worker-1')).isSaturated).toBe(false);
      });

      it('one whose slot the queue knows from another event, and leaves that one alone', async () => {
        const message = buildMessage();
        const rival = buildMessage({ event: buildEvent({ ...message.event, id: buildEvent().id }) });
        await harness.queue.publish([message]);
        expect(await cancel(rival)).toBe('ended');
        expect(await verdicts()).toEqual(['skipped']);
        expect(await stateOf(message)).toBe('queued');
      });
    });

    describe('asks a live claim to stop,', () => {
      it('which stays alive and ends the run itself', async () => {
        const message = buildMessage();
        const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1');
        expect([await cancel(message), await cancel(message)]).toEqual(['requested', 'requested']);
        expect(await renewed(claim)).toBe('cancelled');
        expect(await verdicts()).toEqual([]);
        expect(await finish(harness, claim)).toBe(true);
        expect(await cancel(message)).toBe('finished');
      });

      it('and tells whoever listens, in other processes and other tasks, too', async () => {
        const told: string[] = [];
        const unsubscribe = harness.stops.subscribe((id, reason) => told.push(`${id} ${reason}`));
        const message = buildMessage();
        await claimed(harness, await publishOne(harness, message), 'worker-1');
        // Who has only just begun to listen may miss a word.
        await until('the news', async () => (await cancel(message)) === 'requested' && told.length > 0);
        expect(new Set(told)).toEqual(new Set([`${message.event.id} cancelled`]));
        unsubscribe();
        const before = told.length;
        await cancel(message);
        const again = harness.stops.subscribe((id) => told.push(id));
        await until('a word', async () => (await cancel(message)) === 'requested' && told.length > before);
        expect(told.slice(before).every((word) => word === message.event.id)).toBe(true);
        again();
      });

      it('over its death: the next worker hears of it with its claim, without a mark, and begins nothing', async () => {
        const message = buildMessage();
        await claimed(harness, await publishOne(harness, message), 'dead', SHORT_MS);
        expect(await cancel(message)).toBe('requested');
        const begun = buildReport();
        const delivery = await takeOver(harness, 'heir');
        const answer = await harness.claims.claim(delivery, 'heir', NEVER_MS, { begun });
        expect(answer).toMatchObject({ outcome: 'claimed', stop: 'cancelled', isSaturated: false });
        expect(await verdicts()).toEqual([]);
        if (answer.outcome === 'claimed') expect(await finish(harness, answer.claim)).toBe(true);
        expect(await stateOf(message)).toBe('finished');
      });

      it('over handing back and abandoning', async () => {
        const message = buildMessage();
        const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1');
        await cancel(message);
        const report = buildReport({ ...reportOf(claim), status: 'pending' });
        await harness.claims.handBack(claim, report, NO_PROGRESS);
        const second = await claimed(harness, (await take(harness))[0], 'worker-2');
        expect(second.stop).toBe('cancelled');
        await harness.claims.abandon(second.claim, report);
        expect((await claimed(harness, await publishOne(harness, message), 'worker-3')).stop).toBe(
          'cancelled',
        );
      });

      it('for the first reason only', async () => {
        const [m0, m1] = slotsOfOneTask(2, 1, 'replace') as [QueueMessage, QueueMessage];
        const [first, second] = await publishAndTake(harness, [m0, m1]);
        const { claim } = await claimed(harness, first, 'worker-1');
        await harness.claims.claim(second!, 'worker-1', NEVER_MS);
        expect(await cancel(m0)).toBe('requested');
        expect(await renewed(claim)).toBe('replaced');
      });
    });

    it('races with finishing: exactly one ends the run, 20 times', async () => {
      for (let round = 0; round < 20; round += 1) {
        const message = buildMessage();
        const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1', SHORT_MS);
        if (round % 2 === 1) await harness.advance(SHORT_MS);
        const [first, second] = round % 4 < 2 ? [cancel, finishing] : [finishing, cancel];
        const of = (what: typeof cancel | typeof finishing) =>
          what === cancel ? cancel(message) : finishing(claim);
        await Promise.all([of(first), of(second)]);
        const ended = (await verdicts()).length;
        expect(ended, `round ${round}`).toBe(1);
        expect(await stateOf(message)).toBe('finished');
      }
    });
    const finishing = (claim: Claim) => finish(harness, claim);

    it('races with claiming: a run that was claimed is asked, any other has ended, 20 times', async () => {
      for (let round = 0; round < 20; round += 1) {
        const delivery = await publishOne(harness);
        const claim = () => harness.claims.claim(delivery, 'worker-1', NEVER_MS);
        const both =
          round % 2 === 0 ? [claim(), cancel(delivery.message)] : [cancel(delivery.message), claim()];
        const answers = (await Promise.all(both)).map((a) => (typeof a === 'string' ? a : a.outcome)).sort();
        expect([
          ['claimed', 'requested'],
          ['ended', 'finished'],
        ]).toContainEqual(answers);
        await takeResults(harness).then((batch) => harness.results.acknowledge(batch));
      }
    });

    it('forgets stops with its data, and cancels what it does not know any more', async () => {
      const message = buildMessage();
      const { claim } = await claimed(harness, await publishOne(harness, message), 'worker-1');
      await cancel(message);
      await harness.loseData();
      expect(await cancel(message)).toBe('ended');
      expect(await renewed(claim)).toBe('lost');
      expect(await finish(harness, claim)).toBe(false);
    });
  });
}
