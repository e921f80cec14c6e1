import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BrokerCapabilities,
  type BrokerHarness,
  claimed,
  idsOf,
  inPool,
  publishAndTake,
  reportOf,
  take,
} from '../support/broker-harness.js';
import {
  buildEvent,
  buildMessage,
  buildReport,
  buildTask,
  nextUuid,
  snapshotOf,
} from '../support/builders.js';
import { until } from '../support/until.js';
import { backlogSuite } from './queue-backlog.suite.js';
import { takingSuite } from './queue-taking.suite.js';

const messages = (count: number) => Array.from({ length: count }, () => buildMessage());

/** What every Queue does. */
export function queueSuite(
  name: string,
  open: () => Promise<BrokerHarness>,
  capabilities: BrokerCapabilities,
): void {
  describe(`${name} as Queue`, () => {
    let harness: BrokerHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    describe('publishing', () => {
      it('hands out messages as they were published, oldest first, up to max', async () => {
        const task = buildTask({ params: { text: 'Grüße, 世界 🚀', list: [1, null, { deep: true }] } });
        const published = [buildMessage({ task: snapshotOf(task) }), ...messages(4)];
        expect(await harness.queue.publish(published)).toEqual(published.map(() => 'added'));
        const first = await take(harness, { max: 3 });
        const second = await take(harness, { max: 3 });
        expect([...first, ...second].map(({ message }) => message)).toEqual(published);
        expect(await take(harness)).toEqual([]);
      });

      it('knows an event that is queued, taken, claimed or finished, and adds nothing', async () => {
        const message = buildMessage();
        const publish = () => harness.queue.publish([message]);
        expect(await publish()).toEqual(['added']);
        expect(await publish()).toEqual(['known']);
        const [delivery] = await take(harness);
        expect(await publish()).toEqual(['known']);
        const { claim } = await claimed(harness, delivery, 'worker-1');
        expect(await publish()).toEqual(['known']);
        await harness.claims.finish(claim, buildReport(reportOf(claim)));
        expect(await publish()).toEqual(['known']);
        expect(await harness.queue.depth()).toBe(0);
        expect(await take(harness)).toEqual([]);
      });

      it('refuses another event of the same slot, also within one batch', async () => {
        const first = buildMessage();
        const rival = buildMessage({ event: { ...first.event, id: nextUuid() }, task: first.task });
        const manual = buildMessage({
          event: { ...first.event, id: nextUuid(), kind: 'manual' },
          task: first.task,
        });
        expect(await harness.queue.publish([first, rival, manual])).toEqual(['added', 'duplicate', 'added']);
        expect(await harness.queue.publish([rival, first])).toEqual(['duplicate', 'known']);
        expect(idsOf(await take(harness))).toEqual([first.event.id, manual.event.id]);
      });

      it('answers a large batch in its order', async () => {
        const batch = messages(1200);
        await harness.queue.publish(batch.filter((_, i) => i % 3 === 0));
        const outcomes = await harness.queue.publish(batch);
        expect(outcomes).toEqual(batch.map((_, i) => (i % 3 === 0 ? 'known' : 'added')));
        expect(await harness.queue.publish([])).toEqual([]);
        expect(await harness.queue.depth()).toBe(1200);
      });

      it('makes one message when many publish the same event at once', async () => {
        const message = buildMessage();
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, () => harness.queue.publish([message])),
        );
        expect(outcomes.flat().filter((outcome) => outcome === 'added')).toHaveLength(1);
        expect(await take(harness)).toHaveLength(1);
      });
    });

    it('counts what is not finished, over all pools', async () => {
      expect(await harness.queue.depth()).toBe(0);
      await harness.queue.publish([inPool('blue'), inPool('blue'), inPool('red')]);
      expect(await harness.queue.depth()).toBe(3);
      const [delivery] = await take(harness, { pools: ['red'] });
      const { claim } = await claimed(harness, delivery, 'worker-1');
      expect(await harness.queue.depth()).toBe(3);
      await harness.claims.finish(claim, buildReport(reportOf(claim)));
      expect(await harness.queue.depth()).toBe(2);
    });

    it('tells the state of each run, in order', async () => {
      const batch = messages(600);
      const deliveries = await publishAndTake(harness, batch);
      const states = () => harness.queue.states(batch.map(({ event }) => event));
      const { claim } = await claimed(harness, deliveries[0], 'worker-1');
      await claimed(harness, deliveries[599], 'worker-1', 200);
      await harness.claims.finish(claim, buildReport(reportOf(claim)));
      expect(await states()).toEqual(['finished', ...batch.slice(1, 599).map(() => 'queued'), 'claimed']);
      await harness.advance(250);
      expect((await states())[599]).toBe('queued');
      const [first] = batch;
      const rival = { ...buildEvent(), ...first?.event, id: nextUuid() };
      expect(await harness.queue.states([rival, buildEvent()])).toEqual(['unknown', 'unknown']);
      expect(await harness.queue.states([])).toEqual([]);
    });

    it('has one epoch as long as it keeps its data, and another one afterwards', async () => {
      const epoch = await harness.queue.epoch();
      const others = await Promise.all(Array.from({ length: 5 }, () => harness.queue.epoch()));
      expect(new Set(others)).toEqual(new Set([epoch]));
      await harness.queue.publish([buildMessage()]);
      expect(await harness.queue.epoch()).toBe(epoch);
      await harness.loseData();
      expect(await harness.queue.epoch()).not.toBe(epoch);
    });

    it.skipIf(!capabilities.holdsText)('drops what is no message, and hands out the rest', async () => {
      const before = buildMessage();
      const after = buildMessage();
      const { event, task } = buildMessage();
      const spoils = [
        'not json',
        'null',
        JSON.stringify({ event, task }),
        JSON.stringify(
          buildMessage({ task: { ...task, policy: { ...task.policy, maxConcurrent: '3' as never } } }),
        ),
        JSON.stringify(inPool('elsewhere')),
      ];
      await harness.queue.publish([before]);
      for (const text of spoils) await harness.spoilQueue?.('default', text);
      await harness.queue.publish([after]);
      const poisons: [string, unknown][] = [];
      const taken = await take(harness, { onPoison: (handle, error) => poisons.push([handle, error]) });
      expect(idsOf(taken)).toEqual([before.event.id, after.event.id]);
      expect(poisons).toHaveLength(spoils.length);
      for (const [handle, error] of poisons) {
        expect(handle).not.toBe('');
        expect(error).toBeInstanceOf(Error);
      }
      await until('the poison is gone', async () => (await harness.queue.depth()) === 2);
    });
  });
  takingSuite(name, open);
  backlogSuite(name, open);
}
