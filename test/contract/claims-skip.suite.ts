import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { type ClaimTerms } from '../../src/ports/claims.js';
import { type Delivery } from '../../src/ports/queue.js';
import {
  type BrokerHarness,
  claimed,
  finish,
  idsOf,
  NEVER_MS,
  NO_PROGRESS,
  publishAndTake,
  reportOf,
  SHORT_MS,
  take,
  takeOver,
} from '../support/broker-harness.js';
import { buildEvent, buildMessage, buildReport, buildTask, snapshotOf } from '../support/builders.js';

const WINDOW_MS = 60_000;
/** Epoch ms: long after any test. */
const FAR_OFF = 4_102_444_800_000;

/** What every Claims does for a task whose runs are skipped when they overlap, unless ax itself bunched them; part of `claimsSuite`. */
export function skippingSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Claims, under the overlap policy skip`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    const taskOf = (maxConcurrent: number) =>
      snapshotOf(buildTask({ policy: { ...DEFAULT_POLICY, maxConcurrent } }));
    /** Runs that were due so long ago and fired `firedMsAgo`, published and taken in this order. */
    async function due(
      task = taskOf(1),
      msAgo: readonly number[] = [0],
      firedMsAgo = 0,
    ): Promise<Delivery[]> {
      const at = await harness.now();
      const messages = msAgo.map((ago) => {
        const slot = at - ago;
        const window = { windowStart: slot, windowEnd: slot + WINDOW_MS };
        const event = buildEvent({ taskId: task.id, slot, ...window, firedAt: at - firedMsAgo });
        return buildMessage({ task, event });
      });
      return publishAndTake(harness, messages);
    }
    async function claim(delivery: Delivery | undefined, terms: ClaimTerms = {}): Promise<string> {
      if (delivery === undefined) throw new Error('nothing to claim');
      const answer = await harness.claims.claim(delivery, 'worker-1', NEVER_MS, terms);
      if (answer.outcome !== 'claimed') return answer.outcome;
      return answer.isSaturated ? 'skipped' : 'runs';
    }
    const passes = () => harness.advance(20);

    it('runs that ax bunched wait, and run one after the other in the order of their slots', async () => {
      const deliveries = await due(taskOf(1), [5000, 2000, 4000, 1000, 3000]);
      let running = (await claimed(harness, deliveries[0], 'worker-1')).claim;
      for (const delivery of deliveries.slice(1)) expect(await claim(delivery)).toBe('waiting');
      const order = [running.slot];
      while (order.length < 5) {
        expect(await take(harness)).toEqual([]);
        await finish(harness, running);
        const [turn] = await take(harness, { taker: 'worker-2' });
        running = (await claimed(harness, turn, 'worker-2')).claim;
        order.push(running.slot);
      }
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      expect(new Set(order)).toEqual(new Set(deliveries.map(({ message }) => message.event.slot)));
    });

    it('a run that became due while the task ran is skipped', async () => {
      const task = taskOf(1);
      const running = await claimed(harness, (await due(task, [5000]))[0], 'worker-1');
      await passes();
      const [next] = await due(task);
      await passes();
      expect(await claim(next)).toBe('skipped');
      await finish(harness, running.claim);
      expect(await claim((await due(task))[0])).toBe('runs');
    });

    it('of two places one that was free when the run was due is enough to wait', async () => {
      const task = taskOf(2);
      expect(await claim((await due(task, [9000]))[0])).toBe('runs');
      await passes();
      const [between] = await due(task);
      await passes();
      expect(await claim((await due(task, [8000]))[0])).toBe('runs');
      expect(await claim(between)).toBe('waiting');
      await passes();
      expect(await claim((await due(task))[0])).toBe('skipped');
    });

    it('a run that is claimed later than its window after it was fired is skipped', async () => {
      const task = taskOf(1);
      const [first, inTime] = await due(task, [5000, 4000], WINDOW_MS - 20_000);
      const [tooLate] = await due(task, [4500], WINDOW_MS + 1);
      expect(await claim(first)).toBe('runs');
      expect(await claim(tooLate)).toBe('skipped');
      expect(await claim(inTime)).toBe('waiting');
    });

    it('all of a bunch run in the end, at most max_concurrent at a time, on two workers that claim at the same time', async () => {
      const deliveries = await due(
        taskOf(3),
        Array.from({ length: 20 }, (_, i) => 9000 - i * 100),
      );
      const claimAll = async (taken: readonly Delivery[]) => {
        const claims = taken.map((one, i) => harness.claims.claim(one, `worker-${i % 2}`, NEVER_MS));
        const answers = await Promise.all(claims);
        return answers.flatMap((answer) => {
          if (answer.outcome === 'claimed') expect(answer.isSaturated).toBe(false);
          return answer.outcome === 'claimed' ? [answer.claim] : [];
        });
      };
      const ended: string[] = [];
      for (let running = await claimAll(deliveries); running.length > 0;) {
        expect(running.length).toBeLessThanOrEqual(3);
        ended.push(...running.map(({ executionId }) => executionId));
        await Promise.all(running.map((one) => finish(harness, one)));
        running = await claimAll(await take(harness));
      }
      expect(ended.sort()).toEqual(idsOf(deliveries).sort());
    });

    it('the line is bounded, and what comes on top is skipped; the joining is reported once', async () => {
      const deliveries = await due(taskOf(1), [4000, 3000, 2000, 1000]);
      const found = [];
      for (const delivery of deliveries) found.push(await claim(delivery, { maxWaiting: 2 }));
      expect(found).toEqual(['runs', 'waiting', 'waiting', 'skipped']);
    });

    it('a run joins behind one whose turn has come, and one that waited keeps its place however late it is', async () => {
      const task = taskOf(1);
      const [d0, d1, d2] = await due(task, [5000, 3000, 2000], WINDOW_MS - 20_000);
      const { claim: first } = await claimed(harness, d0, 'worker-1');
      expect(await claim(d1)).toBe('waiting');
      await finish(harness, first);
      const [turn] = await take(harness);
      expect(await claim(d2)).toBe('waiting');
      expect(await claim((await due(task, [4000]))[0])).toBe('runs');
      expect(await claim(turn)).toBe('waiting');
    });

    it('a place counts as taken since its run took it, also over workers that wait for its receipt', async () => {
      const task = taskOf(1);
      const [d0] = await due(task, [5000]);
      const first = await claimed(harness, d0, 'dead', SHORT_MS);
      const progress = { ...NO_PROGRESS, attempt: 1, receiptUntil: FAR_OFF };
      await harness.claims.report(first.claim, buildReport(reportOf(first.claim)), progress);
      await passes();
      const [later] = await due(task);
      expect((await claimed(harness, await takeOver(harness, 'heir'), 'heir')).claim.generation).toBe(2);
      expect(await claim(later)).toBe('skipped');
    });

    it('a place that was given back counts from when it is taken again', async () => {
      const task = taskOf(1);
      const { claim: first } = await claimed(harness, (await due(task, [5000]))[0], 'worker-1');
      await passes();
      const [later] = await due(task);
      await passes();
      await harness.claims.handBack(first, buildReport(reportOf(first)), NO_PROGRESS);
      const [back] = await take(harness);
      expect((await claimed(harness, back, 'worker-2')).claim.generation).toBe(2);
      expect(await claim(later)).toBe('waiting');
    });

    it('a claim that the store had lost counts as older than any run', async () => {
      const task = taskOf(1);
      const { claim: first } = await claimed(harness, (await due(task, [5000]))[0], 'worker-1');
      await harness.loseData();
      expect(await harness.claims.renew([first], NEVER_MS)).toEqual(['alive']);
      expect(await claim((await due(task, [4000]))[0])).toBe('skipped');
    });
  });
}
