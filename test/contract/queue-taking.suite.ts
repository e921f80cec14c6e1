import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BrokerHarness,
  claimed,
  idsOf,
  inPool,
  publishAndTake,
  reportOf,
  take,
  takeSoon,
} from '../support/broker-harness.js';
import { buildMessage, buildReport } from '../support/builders.js';
import { until } from '../support/until.js';

const messages = (count: number) => Array.from({ length: count }, () => buildMessage());

/** What every Queue does when messages are taken, left and given back; part of `queueSuite`. */
export function takingSuite(name: string, open: () => Promise<BrokerHarness>): void {
  describe(`${name} as Queue, to its takers`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    describe('taking', () => {
      it('shares messages between takers, each goes to one', async () => {
        const published = messages(200);
        await harness.queue.publish(published);
        const takeAll = async (taker: string): Promise<string[]> => {
          const ids: string[] = [];
          for (;;) {
            const taken = idsOf(await take(harness, { taker, max: 7 }));
            if (taken.length === 0) return ids;
            ids.push(...taken);
          }
        };
        const shares = await Promise.all(['a', 'b', 'c'].map(takeAll));
        expect(shares.flat().sort()).toEqual(published.map(({ event }) => event.id).sort());
      });

      it('keeps pools apart', async () => {
        const [blue, red] = [inPool('blue'), inPool('red')];
        await harness.queue.publish([blue, red]);
        expect(idsOf(await take(harness, { pools: ['red'] }))).toEqual([red.event.id]);
        expect(await take(harness, { pools: ['red', 'green'] })).toEqual([]);
        expect(idsOf(await take(harness, { pools: ['blue'] }))).toEqual([blue.event.id]);
      });

      it('takes from several pools, at most max in all, and none starves', async () => {
        const batch = [
          ...Array.from({ length: 6 }, () => inPool('blue')),
          inPool('red'),
          ...Array.from({ length: 2 }, () => inPool('green')),
        ];
        await harness.queue.publish(batch);
        const pools = ['blue', 'red', 'green'];
        const taken: string[] = [];
        for (let i = 0; i < 9; i += 1) {
          const deliveries = await take(harness, { pools, max: 2 });
          expect(deliveries.length).toBeLessThanOrEqual(2);
          taken.push(...deliveries.map(({ message }) => message.task.pool));
        }
        expect(taken.sort()).toEqual(batch.map(({ task }) => task.pool).sort());
      });

      it('waits for the first message and returns it', async () => {
        const taking = take(harness, { pools: ['blue', 'red'], waitMs: 20_000 });
        await turn();
        const message = inPool('red');
        await harness.queue.publish([message]);
        expect(idsOf(await taking)).toEqual([message.event.id]);
      });

      it('wakes one of several waiting takers for one message', async () => {
        const stop = new AbortController();
        const takers = ['a', 'b', 'c'].map((taker) =>
          take(harness, { taker, waitMs: 20_000, signal: stop.signal }),
        );
        const message = buildMessage();
        await harness.queue.publish([message]);
        expect(idsOf(await Promise.race(takers))).toEqual([message.event.id]);
        stop.abort();
        expect((await Promise.all(takers)).flat()).toHaveLength(1);
      });

      it('returns nothing when nothing came in time', async () => {
        const taking = take(harness, { waitMs: 300 });
        await harness.advance(300);
        expect(await taking).toEqual([]);
      });

      it('never exceeds max when several pools get messages at once', async () => {
        const pools = ['blue', 'red', 'green'];
        const taking = take(harness, { pools, max: 1, waitMs: 20_000 });
        const batch = pools.map(inPool);
        await harness.queue.publish(batch);
        const taken = idsOf(await taking);
        expect(taken).toHaveLength(1);
        await until('the others to be taken', async () => {
          taken.push(...idsOf(await take(harness, { pools, taker: 'worker-2', max: 1 })));
          return taken.length === 3;
        });
        expect(taken.sort()).toEqual(idsOf(batch.map((message) => ({ message, handle: '' }))).sort());
      });

      it('returns early when aborted', async () => {
        const stop = new AbortController();
        const taking = take(harness, { waitMs: 60_000, signal: stop.signal });
        await turn();
        stop.abort();
        expect(await taking).toEqual([]);
        expect(await take(harness, { waitMs: 60_000, signal: stop.signal })).toEqual([]);
      });

      it('loses no message to an abort', async () => {
        for (let round = 0; round < 25; round += 1) {
          const stop = new AbortController();
          const message = buildMessage();
          const taking = take(harness, { taker: 'stopping', waitMs: 60_000, signal: stop.signal });
          for (let i = 0; i < round % 5; i += 1) await turn();
          const publishing = harness.queue.publish([message]);
          for (let i = 0; i < round % 7; i += 1) await turn();
          stop.abort();
          const [taken] = await Promise.all([taking, publishing]);
          await harness.queue.giveBack(taken);
          expect(idsOf(await take(harness, { taker: 'other' }))).toEqual([message.event.id]);
        }
      });
    });

    describe('messages of takers that are gone', () => {
      it('go to another taker after reclaimAfterMs, not before', async () => {
        const [delivery] = await publishAndTake(harness, [buildMessage()], 'dead');
        expect(await take(harness, { taker: 'heir', reclaimAfterMs: 30_000 })).toEqual([]);
        await harness.advance(400);
        const taken = await takeSoon(harness, { taker: 'heir', reclaimAfterMs: 400 });
        expect(idsOf(taken)).toEqual([delivery?.message.event.id]);
        expect(await take(harness, { taker: 'third', reclaimAfterMs: 30_000 })).toEqual([]);
      });

      it('are found by a taker that is waiting, long before its wait is over', async () => {
        const [delivery] = await publishAndTake(harness, [buildMessage()], 'dead');
        const startedAt = performance.now();
        const taking = take(harness, { taker: 'heir', reclaimAfterMs: 1000, waitMs: 25_000 });
        await harness.advance(1500);
        expect(idsOf(await taking)).toEqual([delivery?.message.event.id]);
        expect(performance.now() - startedAt).toBeLessThan(15_000);
      });

      it('count with new ones towards max, and come first', async () => {
        const old = messages(3);
        await publishAndTake(harness, old, 'dead');
        const young = messages(3);
        await harness.queue.publish(young);
        await harness.advance(400);
        const request = { taker: 'heir', reclaimAfterMs: 400, max: 4 };
        const first = await takeSoon(harness, request);
        expect(idsOf(first)).toEqual([...old, young[0]].map((message) => message?.event.id));
        const rest = await take(harness, { taker: 'heir', max: 4 });
        expect(idsOf(rest)).toEqual(young.slice(1).map(({ event }) => event.id));
      });

      it('are all found when there are more than max', async () => {
        const old = messages(30);
        await publishAndTake(harness, old, 'dead');
        await harness.advance(2000);
        const ids: string[] = [];
        await until('all to be taken over', async () => {
          ids.push(...idsOf(await take(harness, { taker: 'heir', max: 4, reclaimAfterMs: 2000 })));
          return ids.length >= 30;
        });
        expect(ids.sort()).toEqual(old.map(({ event }) => event.id).sort());
      });
    });

    describe('giving back', () => {
      it('lets others take at once', async () => {
        const deliveries = await publishAndTake(harness, messages(3));
        const waiting = take(harness, { taker: 'worker-2', waitMs: 20_000, max: 1 });
        await harness.queue.giveBack(deliveries);
        const taken = [...(await waiting), ...(await take(harness, { taker: 'worker-3' }))];
        expect(idsOf(taken)).toEqual(idsOf(deliveries));
        for (const delivery of taken) await claimed(harness, delivery, 'worker-3');
      });

      it('makes no second message', async () => {
        const deliveries = await publishAndTake(harness, messages(2));
        await harness.queue.giveBack(deliveries);
        await harness.queue.giveBack(deliveries);
        expect(await take(harness)).toHaveLength(2);
        expect(await harness.queue.depth()).toBe(2);
        expect(await harness.queue.publish(deliveries.map(({ message }) => message))).toEqual([
          'known',
          'known',
        ]);
        await harness.queue.giveBack([]);
      });

      it('leaves a message alone that another worker has claimed or finished', async () => {
        const [delivery] = await publishAndTake(harness, [buildMessage()], 'slow');
        await harness.advance(300);
        const [again] = await takeSoon(harness, { taker: 'heir', reclaimAfterMs: 300 });
        const { claim } = await claimed(harness, again, 'heir');
        if (delivery) await harness.queue.giveBack([delivery]);
        expect(await take(harness, { taker: 'third' })).toEqual([]);
        expect(await harness.claims.finish(claim, buildReport(reportOf(claim)))).toBe(true);
        if (delivery) await harness.queue.giveBack([delivery]);
        expect(await take(harness, { taker: 'third' })).toEqual([]);
        expect(await harness.queue.depth()).toBe(0);
      });
    });
  });
}
