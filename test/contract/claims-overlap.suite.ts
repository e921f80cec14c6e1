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
import { buildReport } from '../support/builders.js';

/** What every Claims does for a task whose runs wait their turn; part of `claimsSuite`. */
export function queueingSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims, under the overlap policy queue`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    const slots = (count: number, limit: number) => slotsOfOneTask(count, limit, 'queue');
    const idsIn = (messages: readonly (QueueMessage | undefined)[]) => messages.map((m) => m?.event.id);
    const states = (messages: readonly QueueMessage[]) =>
      harness.queue.states(messages.map(({ event }) => event));

    /** Publishes, takes and claims in the given order; what each claim came to. */
    async function arrive(messages: readonly QueueMessage[], ttlMs = NEVER_MS) {
      const answers = [];
      for (const delivery of await publishAndTake(harness, messages))
        answers.push(await harness.claims.claim(delivery, 'worker-1', ttlMs));
      return answers;
    }
    const claimOf = (answer: Awaited<ReturnType<typeof arrive>>[number] | undefined): Claim => {
      if (answer?.outcome !== 'claimed') throw new Error(`not claimed: ${answer?.outcome}`);
      return answer.claim;
    };
    /** The next run that is handed out, claimed. */
    async function next() {
      const deliveries = await take(harness);
      expect(deliveries).toHaveLength(1);
      return claimed(harness, deliveries[0], 'worker-2');
    }

    it('a run waits, out of the queue, until the one that runs has ended', async () => {
      const [first, second] = slots(2, 1) as [QueueMessage, QueueMessage];
      const [running, waiting] = await arrive([first, second]);
      expect(waiting).toEqual({ outcome: 'waiting' });
      expect(await states([first, second])).toEqual(['claimed', 'waiting']);
      expect(await harness.queue.depth()).toBe(1);
      expect(await take(harness)).toEqual([]);
      await finish(harness, claimOf(running));
      expect(await states([second])).toEqual(['queued']);
      expect(await next()).toMatchObject({ isSaturated: false, stop: null, previous: null });
      expect(await states([second])).toEqual(['claimed']);
    });

    it('wakes a worker that waits for messages', async () => {
      const [running] = await arrive(slots(2, 1));
      const coming = take(harness, { waitMs: 20_000, taker: 'worker-2' });
      await finish(harness, claimOf(running));
      expect(await coming).toHaveLength(1);
    });

    it('runs take their turns in the order of slots, however they arrive', async () => {
      const messages = slots(6, 1);
      const [m0, m1, m2, m3, m4, m5] = messages;
      const [running] = await arrive([m0, m4, m2, m5, m1, m3] as QueueMessage[]);
      const order: string[] = [];
      for (let claim = claimOf(running); order.length < 5;) {
        await finish(harness, claim);
        ({ claim } = await next());
        order.push(claim.executionId);
      }
      expect(order).toEqual(idsIn([m1, m2, m3, m4, m5]));
    });

    it('a turn is not overtaken by a later slot, also while nobody claims it', async () => {
      const [m0, m1, m2] = slots(3, 1) as [QueueMessage, QueueMessage, QueueMessage];
      const [running] = await arrive([m0, m1]);
      await finish(harness, claimOf(running));
      const [turn] = await take(harness);
      await harness.advance(SHORT_MS);
      expect(await arrive([m2])).toEqual([{ outcome: 'waiting' }]);
      const { claim, isSaturated } = await claimed(harness, turn, 'worker-2');
      expect([claim.executionId, isSaturated]).toEqual([m1.event.id, false]);
      await finish(harness, claim);
      expect((await next()).claim.executionId).toBe(m2.event.id);
    });

    it('an earlier slot goes ahead of those that wait', async () => {
      const [m0, m1, m2] = slots(3, 1) as [QueueMessage, QueueMessage, QueueMessage];
      const [running] = await arrive([m0, m2]);
      await finish(harness, claimOf(running));
      const [turn] = await take(harness);
      const [early] = await arrive([m1]);
      expect(early).toMatchObject({ outcome: 'claimed', isSaturated: false });
      expect(await harness.claims.claim(turn!, 'worker-2', NEVER_MS)).toEqual({ outcome: 'waiting' });
    });

    it('at most max_concurrent run, whoever claims at the same time, and all run in the end', async () => {
      const messages = slots(20, 3);
      const deliveries = await publishAndTake(harness, messages);
      const first = await Promise.all(
        deliveries.map((delivery, i) => harness.claims.claim(delivery, `worker-${i % 4}`, NEVER_MS)),
      );
      let running = first.filter(({ outcome }) => outcome === 'claimed').map(claimOf);
      expect(running).toHaveLength(3);
      const ended: string[] = [];
      while (running.length > 0) {
        expect(running.length).toBeLessThanOrEqual(3);
        ended.push(...running.map(({ executionId }) => executionId));
        await Promise.all(running.map((claim) => finish(harness, claim)));
        const turns = await take(harness);
        const answers = await Promise.all(turns.map((d) => harness.claims.claim(d, 'worker-5', NEVER_MS)));
        running = answers.map(claimOf);
      }
      expect(ended.sort()).toEqual(idsIn(messages));
    });

    it('the line is bounded, and what comes on top is saturated', async () => {
      const deliveries = await publishAndTake(harness, slots(4, 1));
      const outcomes = [];
      for (const delivery of deliveries) {
        const answer = await harness.claims.claim(delivery, 'worker-1', NEVER_MS, { maxWaiting: 2 });
        outcomes.push(answer.outcome === 'claimed' ? answer.isSaturated : answer.outcome);
      }
      expect(outcomes).toEqual([false, 'waiting', 'waiting', true]);
    });

    it('the report of joining the line is queued once', async () => {
      const [, second] = await publishAndTake(harness, slots(2, 1)).then(async (deliveries) => {
        await claimed(harness, deliveries[0], 'worker-1');
        return deliveries;
      });
      if (second === undefined) throw new Error('nothing taken');
      const { id: executionId, taskId } = second.message.event;
      const waiting = buildReport({ executionId, taskId, status: 'pending' });
      const begun = buildReport({ executionId, taskId });
      const claim = () =>
        harness.claims.claim(second, 'worker-1', NEVER_MS, { begun, waiting: () => waiting });
      expect(await claim()).toEqual({ outcome: 'waiting' });
      expect(await claim()).toEqual({ outcome: 'finished' });
      expect((await takeResults(harness)).reports).toEqual([waiting]);
    });

    it('handing back and abandoning give the turn away, too', async () => {
      const [m0, m1, m2] = slots(3, 1) as [QueueMessage, QueueMessage, QueueMessage];
      const [running] = await arrive([m1, m2]);
      const claim = claimOf(running);
      await harness.claims.abandon(claim, buildReport(reportOf(claim)));
      const second = await next();
      expect(second.claim.executionId).toBe(m2.event.id);
      await arrive([m0]);
      await harness.claims.handBack(second.claim, buildReport(reportOf(second.claim)), NO_PROGRESS);
      const back = await take(harness);
      expect(idsOf(back).sort()).toEqual(idsIn([m0, m2]));
      expect(await harness.claims.claim(back[0]!, 'worker-2', NEVER_MS)).toMatchObject({
        outcome: 'waiting',
      });
      expect(await harness.claims.claim(back[1]!, 'worker-2', NEVER_MS)).toMatchObject({
        outcome: 'claimed',
      });
    });

    it('the death of a worker frees its place for the line as soon as its message is taken over', async () => {
      const [m0, m1] = slots(2, 1) as [QueueMessage, QueueMessage];
      await arrive([m0, m1], SHORT_MS);
      const heir = await claimed(harness, await takeOver(harness, 'heir'), 'heir');
      expect(heir).toMatchObject({ isSaturated: false, claim: { executionId: m0.event.id, generation: 2 } });
      expect(await states([m1])).toEqual(['waiting']);
      await finish(harness, heir.claim);
      expect((await next()).claim.executionId).toBe(m1.event.id);
    });

    it('publishing a run that waits adds nothing, and hands out what has room once all marks have died', async () => {
      const [m0, m1, m2] = slots(3, 1) as [QueueMessage, QueueMessage, QueueMessage];
      await arrive([m0, m1, m2], SHORT_MS);
      expect(await harness.queue.publish([m2])).toEqual(['known']);
      expect(await states([m1, m2])).toEqual(['waiting', 'waiting']);
      await harness.advance(SHORT_MS);
      expect(await harness.queue.publish([m2])).toEqual(['known']);
      expect(await states([m1, m2])).toEqual(['queued', 'waiting']);
      expect((await next()).claim.executionId).toBe(m1.event.id);
    });

    it('a paused worker that takes its place back keeps the turn from running beside it', async () => {
      const [m0, m1] = slots(2, 1) as [QueueMessage, QueueMessage];
      const [running] = await arrive([m0, m1], SHORT_MS);
      await harness.advance(SHORT_MS);
      await harness.queue.publish([m1]);
      const [turn] = await take(harness);
      expect(await harness.claims.renew([claimOf(running)], NEVER_MS)).toEqual(['alive']);
      expect(await harness.claims.claim(turn!, 'worker-2', NEVER_MS)).toEqual({ outcome: 'waiting' });
      await finish(harness, claimOf(running));
      expect((await next()).claim.executionId).toBe(m1.event.id);
    });

    it('a run that was begun and has lost its place waits with what it has done', async () => {
      const [m0, m1] = slots(2, 1) as [QueueMessage, QueueMessage];
      const [late] = await arrive([m1], SHORT_MS);
      const progress = {
        attempt: 2,
        failures: 1,
        receiptUntil: null,
        retryAt: 4_102_444_800_456,
      };
      await harness.claims.report(claimOf(late), buildReport(reportOf(claimOf(late))), progress);
      await harness.advance(SHORT_MS);
      const [early] = await arrive([m0]);
      expect(early).toMatchObject({ outcome: 'claimed', isSaturated: false });
      const again = await takeOver(harness, 'worker-2');
      expect(await harness.claims.claim(again, 'worker-2', NEVER_MS)).toEqual({ outcome: 'waiting' });
      await finish(harness, claimOf(early));
      expect((await next()).previous).toMatchObject({ ...progress, generation: 1, isHandedBack: false });
    });

    it('forgets the line with its data; a run that is published again runs', async () => {
      const [m0, m1] = slots(2, 1) as [QueueMessage, QueueMessage];
      await arrive([m0, m1]);
      await harness.loseData();
      expect(await states([m1])).toEqual(['unknown']);
      expect((await claimed(harness, await publishOne(harness, m1), 'worker-2')).isSaturated).toBe(false);
    });
  });
}
