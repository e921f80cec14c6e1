import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { type Claim } from '../../src/ports/claims.js';
import { type Delivery, type QueueMessage } from '../../src/ports/queue.js';
import {
  type BrokerHarness,
  claimed,
  idsOf,
  publishAndTake,
  reportOf,
  take,
  takeResults,
  takeSoon,
} from '../support/broker-harness.js';
import { buildEvent, buildMessage, buildReport, buildTask, snapshotOf } from '../support/builders.js';

const SHORT_MS = 300;
const NO_PROGRESS = { attempt: 0, failures: 0 };

/** Messages of one task, one slot each. */
function slotsOfOneTask(count: number, maxConcurrent: number): QueueMessage[] {
  const task = buildTask({ policy: { ...DEFAULT_POLICY, maxConcurrent } });
  const message = () => buildMessage({ task: snapshotOf(task), event: buildEvent({ taskId: task.id }) });
  return Array.from({ length: count }, message);
}

/** What every Claims does. */
export function claimsSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    const publishOne = async (message = buildMessage()): Promise<Delivery> => {
      const [delivery] = await publishAndTake(harness, [message]);
      if (delivery === undefined) throw new Error('nothing taken');
      return delivery;
    };
    /** The same message, taken over by `worker` from a worker that has been silent. */
    const takeOver = async (worker: string, afterMs = SHORT_MS): Promise<Delivery> => {
      await harness.advance(afterMs);
      const [delivery] = await takeSoon(harness, { taker: worker, reclaimAfterMs: afterMs, max: 1 });
      if (delivery === undefined) throw new Error('nothing taken over');
      return delivery;
    };
    const finish = (claim: Claim) =>
      harness.claims.finish(claim, buildReport({ ...reportOf(claim), status: 'success' }));
    const generationsReported = async () =>
      (await takeResults(harness)).reports.map(({ worker, generation }) => [worker, generation]);

    describe('claiming', () => {
      it('gives one delivery to exactly one of 20', async () => {
        const delivery = await publishOne();
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
        const delivery = await publishOne();
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
          previous: null,
        });
        expect(await harness.claims.claim(delivery, 'worker-1', 60_000)).toEqual({ outcome: 'held' });
      });

      it('starts above the generation that the message knows of', async () => {
        const delivery = await publishOne(buildMessage({ generationFloor: 7 }));
        const { claim, previous } = await claimed(harness, delivery, 'worker-1');
        expect(claim.generation).toBe(8);
        expect(previous).toBeNull();
      });

      it('leaves a message to its live holder when it comes too early, and neither keeps nor loses it', async () => {
        const first = await claimed(harness, await publishOne(), 'worker-1', 60_000);
        const early = await takeOver('worker-2');
        expect(await harness.claims.claim(early, 'worker-2', 60_000)).toEqual({ outcome: 'held' });
        expect(await finish(first.claim)).toBe(true);
        expect(await harness.queue.depth()).toBe(0);

        await claimed(harness, await publishOne(), 'worker-1', 3 * SHORT_MS);
        const second = await takeOver('worker-2');
        expect(await harness.claims.claim(second, 'worker-2', 60_000)).toEqual({ outcome: 'held' });
        const heir = await claimed(harness, await takeOver('worker-3', 3 * SHORT_MS), 'worker-3');
        expect(heir.claim.generation).toBe(2);
      });

      it('never hands out a finished message again', async () => {
        const delivery = await publishOne();
        const { claim } = await claimed(harness, delivery, 'worker-1', 60_000);
        await finish(claim);
        expect(await harness.claims.claim(delivery, 'worker-2', 60_000)).toEqual({ outcome: 'finished' });
        await harness.advance(SHORT_MS);
        expect(await take(harness, { taker: 'worker-2', reclaimAfterMs: SHORT_MS })).toEqual([]);
      });

      it('is for the next worker once its holder is dead, and tells what that one did', async () => {
        const first = await claimed(harness, await publishOne(), 'worker-1', SHORT_MS);
        await harness.claims.report(first.claim, buildReport(reportOf(first.claim)), {
          attempt: 2,
          failures: 1,
        });
        const second = await claimed(harness, await takeOver('worker-2'), 'worker-2', SHORT_MS);
        expect(second.claim.generation).toBe(2);
        expect(second.previous).toEqual({
          worker: 'worker-1',
          generation: 1,
          attempt: 2,
          failures: 1,
          isHandedBack: false,
        });
        const third = await claimed(harness, await takeOver('worker-3'), 'worker-3');
        expect(third.previous).toMatchObject({ worker: 'worker-2', generation: 2, attempt: 2, failures: 1 });
      });
    });

    describe('running marks', () => {
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
        await finish(second.claim);
        expect((await claimed(harness, deliveries[2], 'worker-1')).isSaturated).toBe(true);
        await finish(first.claim);
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
        const again = await takeOver('alive');
        expect((await claimed(harness, again, 'alive')).isSaturated).toBe(true);
      });

      it('live as long as their claim is renewed', async () => {
        const deliveries = await publishAndTake(harness, slotsOfOneTask(2, 1));
        const { claim } = await claimed(harness, deliveries[0], 'worker-1', SHORT_MS);
        expect(await harness.claims.renew([claim], 60_000)).toEqual([true]);
        await harness.advance(SHORT_MS);
        expect((await claimed(harness, deliveries[1], 'worker-2')).isSaturated).toBe(true);
      });

      it('are not taken back by a paused worker whose place was taken', async () => {
        const deliveries = await publishAndTake(harness, slotsOfOneTask(2, 1));
        const paused = await claimed(harness, deliveries[0], 'paused', SHORT_MS);
        await harness.advance(SHORT_MS);
        const { isSaturated } = await claimed(harness, deliveries[1], 'worker-2');
        expect(isSaturated).toBe(false);
        expect(await harness.claims.renew([paused.claim], 60_000)).toEqual([false]);
        expect(await finish(paused.claim)).toBe(false);
        const heir = await claimed(harness, await takeOver('worker-3'), 'worker-3');
        expect(heir).toMatchObject({ isSaturated: true, claim: { generation: 2 } });
      });

      it('are not given to saturated claims by renewal', async () => {
        const deliveries = await publishAndTake(harness, slotsOfOneTask(3, 1));
        const marked = await claimed(harness, deliveries[0], 'worker-1');
        const saturated = await claimed(harness, deliveries[1], 'worker-1');
        expect(await harness.claims.renew([saturated.claim], 60_000)).toEqual([true]);
        await finish(marked.claim);
        expect(await harness.claims.renew([saturated.claim], 60_000)).toEqual([true]);
        expect((await claimed(harness, deliveries[2], 'worker-1')).isSaturated).toBe(false);
      });
    });

    describe('renewing', () => {
      it('keeps the message from being taken over', async () => {
        const lifeMs = 1500;
        const { claim } = await claimed(harness, await publishOne(), 'worker-1', lifeMs);
        for (let beat = 0; beat < 4; beat += 1) {
          await harness.advance(500);
          expect(await harness.claims.renew([claim], lifeMs)).toEqual([true]);
        }
        expect(await take(harness, { taker: 'worker-2', reclaimAfterMs: lifeMs })).toEqual([]);
        expect(await finish(claim)).toBe(true);
      });

      it('brings a claim back that nobody took meanwhile', async () => {
        const delivery = await publishOne();
        const { claim } = await claimed(harness, delivery, 'worker-1', SHORT_MS);
        await harness.advance(SHORT_MS);
        expect(await harness.claims.renew([claim], 60_000)).toEqual([true]);
        expect(await harness.claims.claim(delivery, 'worker-2', 60_000)).toEqual({ outcome: 'held' });
      });

      it('answers for each claim, in order', async () => {
        const deliveries = await publishAndTake(harness, [buildMessage(), buildMessage(), buildMessage()]);
        const claims: Claim[] = [];
        for (const delivery of deliveries) claims.push((await claimed(harness, delivery, 'worker-1')).claim);
        const [, second] = claims;
        if (second) await finish(second);
        expect(await harness.claims.renew(claims, 60_000)).toEqual([true, false, true]);
        expect(await harness.claims.renew([], 60_000)).toEqual([]);
      });
    });

    it('refuses everything by a worker whose claim was overtaken', async () => {
      const stale = await claimed(harness, await publishOne(), 'stale', SHORT_MS);
      const { claim } = await claimed(harness, await takeOver('heir'), 'heir', 60_000);
      const report = buildReport(reportOf(stale.claim));
      expect(await harness.claims.report(stale.claim, report, { attempt: 9, failures: 9 })).toBe(false);
      expect(await harness.claims.renew([stale.claim], 60_000)).toEqual([false]);
      expect(await harness.claims.handBack(stale.claim, report, NO_PROGRESS)).toBe(false);
      expect(await finish(stale.claim)).toBe(false);
      expect(await harness.claims.renew([claim], 60_000)).toEqual([true]);
      expect(await finish(claim)).toBe(true);
      expect(await finish(stale.claim)).toBe(false);
      expect(await generationsReported()).toEqual([['heir', 2]]);
    });

    describe('finishing', () => {
      it('is idempotent, with one report', async () => {
        const { claim } = await claimed(harness, await publishOne(), 'worker-1');
        const report = buildReport({ ...reportOf(claim), status: 'success', evidence: { http_status: 200 } });
        expect(await harness.claims.finish(claim, report)).toBe(true);
        expect(await harness.claims.finish(claim, report)).toBe(true);
        expect((await takeResults(harness)).reports).toEqual([report]);
        expect(await harness.claims.report(claim, report, NO_PROGRESS)).toBe(false);
        expect(await harness.claims.renew([claim], 60_000)).toEqual([false]);
        expect(await harness.claims.handBack(claim, report, NO_PROGRESS)).toBe(false);
      });

      it('keeps reports in their order', async () => {
        const { claim } = await claimed(harness, await publishOne(), 'worker-1');
        const reports = [1, 2, 3].map((seq) => buildReport({ ...reportOf(claim), seq }));
        for (const report of reports.slice(0, 2)) {
          expect(await harness.claims.report(claim, report, { attempt: 1, failures: 0 })).toBe(true);
        }
        if (reports[2]) await harness.claims.finish(claim, reports[2]);
        expect((await takeResults(harness)).reports).toEqual(reports);
      });
    });

    describe('handing back', () => {
      it('lets another worker go on at once, with the progress', async () => {
        const { claim } = await claimed(harness, await publishOne(), 'worker-1', 60_000);
        const report = buildReport({ ...reportOf(claim), status: 'pending' });
        const waiting = take(harness, { taker: 'worker-2', waitMs: 20_000 });
        expect(await harness.claims.handBack(claim, report, { attempt: 3, failures: 3 })).toBe(true);
        const [delivery] = await waiting;
        expect(idsOf(delivery ? [delivery] : [])).toEqual([claim.executionId]);
        const next = await claimed(harness, delivery, 'worker-2', SHORT_MS);
        expect(next.claim.generation).toBe(2);
        const previous = { worker: 'worker-1', generation: 1, attempt: 3, failures: 3 };
        expect(next.previous).toEqual({ ...previous, isHandedBack: true });
        expect((await takeResults(harness)).reports).toEqual([report]);

        const third = await claimed(harness, await takeOver('worker-3'), 'worker-3');
        expect(third.previous).toMatchObject({ worker: 'worker-2', attempt: 3, isHandedBack: false });
      });

      it('can be repeated, without a second report or message', async () => {
        const { claim } = await claimed(harness, await publishOne(), 'worker-1', 60_000);
        const handBack = () => harness.claims.handBack(claim, buildReport(reportOf(claim)), NO_PROGRESS);
        expect([await handBack(), await handBack()]).toEqual([true, true]);
        expect(await harness.claims.renew([claim], 60_000)).toEqual([false]);
        expect((await takeResults(harness)).reports).toHaveLength(1);
        const deliveries = await take(harness);
        expect(deliveries).toHaveLength(1);
        await claimed(harness, deliveries[0], 'worker-2');
        expect(await handBack()).toBe(false);
      });
    });

    describe('when the store has lost its data', () => {
      it('asserts the claim again, and its mark', async () => {
        const [message, next] = slotsOfOneTask(2, 1);
        const { claim } = await claimed(harness, await publishOne(message), 'worker-1', 60_000);
        await harness.loseData();
        expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['unknown']);
        expect(await harness.claims.renew([claim], 60_000)).toEqual([true]);
        expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['claimed']);
        expect((await claimed(harness, await publishOne(next), 'worker-2')).isSaturated).toBe(true);
        expect(await finish(claim)).toBe(true);
        expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['finished']);
      });

      it('takes the final report of a run that it has forgotten', async () => {
        const { claim } = await claimed(harness, await publishOne(), 'worker-1', 60_000);
        await harness.loseData();
        expect([await finish(claim), await finish(claim)]).toEqual([true, true]);
        expect(await generationsReported()).toEqual([['worker-1', 1]]);
        expect(await harness.queue.states([claimedEvent(claim)])).toEqual(['finished']);
      });

      it('takes reports and a handing back, and the message is published again with what they said', async () => {
        const message = buildMessage();
        const { claim } = await claimed(harness, await publishOne(message), 'worker-1', 60_000);
        await harness.loseData();
        const report = buildReport(reportOf(claim));
        expect(await harness.claims.report(claim, report, { attempt: 2, failures: 1 })).toBe(true);
        expect(await harness.claims.renew([claim], 60_000)).toEqual([true]);
        expect(await harness.claims.handBack(claim, report, { attempt: 2, failures: 2 })).toBe(true);
        expect(await harness.queue.states([message.event])).toEqual(['unknown']);
        const { claim: next, previous } = await claimed(harness, await publishOne(message), 'worker-2');
        expect(next.generation).toBe(2);
        expect(previous).toMatchObject({ worker: 'worker-1', attempt: 2, failures: 2, isHandedBack: true });
      });

      it('hands the run to another worker when the one that asserted it dies, and says that it had begun', async () => {
        const message = buildMessage();
        const { claim } = await claimed(harness, await publishOne(message), 'worker-1', 60_000);
        await harness.loseData();
        await harness.claims.renew([claim], SHORT_MS);
        expect(await harness.queue.publish([message])).toEqual(['known']);
        await harness.advance(SHORT_MS);
        expect(await harness.queue.states([message.event])).toEqual(['unknown']);
        const { claim: next, previous } = await claimed(harness, await publishOne(message), 'worker-2');
        expect(next.generation).toBe(2);
        expect(previous).toMatchObject({ worker: 'worker-1', attempt: 1, isHandedBack: false });
        expect(await finish(claim)).toBe(false);
        expect(await finish(next)).toBe(true);
      });

      it('refuses the delivery of a message that it has lost', async () => {
        const message = buildMessage();
        const delivery = await publishOne(message);
        await harness.loseData();
        expect(await harness.claims.claim(delivery, 'worker-1', 60_000)).toEqual({ outcome: 'finished' });
        const { claim } = await claimed(harness, await publishOne(message), 'worker-2');
        expect(await harness.claims.claim(delivery, 'worker-1', 60_000)).toEqual({ outcome: 'finished' });
        expect(await finish(claim)).toBe(true);
      });
    });
  });
}

const claimedEvent = ({ executionId, taskId, kind, slot }: Claim) => ({
  id: executionId,
  taskId,
  kind,
  slot,
});
