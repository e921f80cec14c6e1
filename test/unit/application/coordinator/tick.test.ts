import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BASE } from '../../../support/builders.js';
import { total, valuesOf } from '../../../support/measured.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

const LEASE_MS = 5000;

describe('Tick', () => {
  let harness: NodeHarness;
  beforeEach(async () => {
    harness = await NodeHarness.open();
  });
  afterEach(() => harness.close());

  const slots = async () => (await harness.all()).map(({ event }) => (event.slot - BASE) / 1000);
  const published = () => harness.broker.queue.depth();

  describe('only the leader decides', () => {
    it('and a standby does not even look for what is due', async () => {
      await harness.add(every(1));
      const [leader, standby] = [harness.coordinator('leader'), harness.coordinator('standby')];
      await leader.tick.turn();
      await harness.clock.advance(1000);
      await standby.tick.turn();
      expect(standby.store.calls).not.toContain('decideDue');
      expect(await slots()).toEqual([]);
      await leader.tick.turn();
      expect(await slots()).toEqual([1]);
      expect((await harness.only()).execution.event.node).toBe('leader');
    });

    it('and a leader that was paused past its lease decides nothing, while the one that took over goes on from the cursor', async () => {
      await harness.add(every(1));
      const [paused, heir] = [harness.coordinator('paused'), harness.coordinator('heir')];
      for (let second = 1; second <= 3; second++) {
        await harness.clock.advance(1000);
        await paused.tick.turn();
      }
      await harness.clock.advance(LEASE_MS + 100);
      const looked = paused.store.calls.filter((call) => call === 'decideDue').length;
      await heir.tick.turn();
      await paused.tick.turn();
      expect(paused.store.calls.filter((call) => call === 'decideDue')).toHaveLength(looked);
      expect(paused.leadership.isCurrent()).toBe(false);
      for (let turn = 0; turn < 40; turn++) {
        await harness.clock.advance(200);
        await Promise.all([paused.tick.turn(), heir.tick.turn()]);
      }
      const found = await slots();
      expect(found).toEqual(found.map((_, i) => i + 1));
      expect(found.at(-1)).toBe(16);
      const nodes = (await harness.all()).map(({ event }) => event.node);
      expect(nodes).toEqual(found.map((slot) => (slot <= 3 ? 'paused' : 'heir')));
    });

    it('and rolls all back when its lease ends in the middle of deciding', async () => {
      await harness.add(every(60, { id: 'on-time' }), every(10, { id: 'missed' }));
      const node = harness.coordinator('slow');
      await harness.clock.advance(60_000);
      node.store.before = async (method) => {
        if (method === 'decideDue') await harness.clock.advance(LEASE_MS);
      };
      await node.tick.turn();
      expect(await harness.all()).toEqual([]);
      expect(await published()).toBe(0);
      expect(node.redis.calls).not.toContain('publish');
      expect(total(node.metrics, 'triggers_total')).toBe(0);
      expect(total(node.metrics, 'slots_skipped_total')).toBe(0);
      expect(node.logger.lines.map(([, , message]) => message)).toEqual([
        'this node leads now',
        'lease ended while deciding, nothing was decided',
      ]);

      node.store.before = () => undefined;
      await node.tick.turn();
      expect((await harness.all('on-time'))[0]?.event.slot).toBe(BASE + 60_000);
      expect(total(node.metrics, 'slots_skipped_total', { reason: 'misfire' })).toBe(4);
    });

    it('and says so when it cannot read the store, though it is not its turn', async () => {
      const [leader, standby] = [harness.coordinator('leader'), harness.coordinator('standby')];
      await leader.tick.turn();
      standby.store.state = 'cut';
      await expect(standby.tick.turn()).rejects.toMatchObject({ code: 'unavailable' });
    });
  });

  describe('tells how long to sleep', () => {
    it('until the next due instant, to the millisecond', async () => {
      await harness.add(every(10), every(7));
      await harness.clock.advance(6_250);
      expect(await harness.coordinator('leader').tick.turn()).toBe(750);
    });

    it('at most one tick', async () => {
      const node = harness.coordinator('leader', { tickMs: 800 });
      expect(await node.tick.turn()).toBe(800);
      await harness.add(every(60));
      expect(await node.tick.turn()).toBe(800);
    });

    it('not at all when more is due than one batch holds', async () => {
      const node = harness.coordinator('leader');
      await harness.add(...Array.from({ length: 1001 }, () => every(60)));
      await harness.clock.advance(60_000);
      expect(await node.tick.turn()).toBe(0);
      expect(node.store.calls).toEqual(['watchedOutcomes', 'decideDue']);
      expect(valuesOf(node.metrics, 'dispatch_batch_size')).toEqual([1000]);
      expect(await node.tick.turn()).toBe(1000);
      expect(await published()).toBe(1001);
    });

    it('until a slot that is held back may go', async () => {
      await harness.add(every(1));
      const node = harness.coordinator('leader');
      await harness.clock.advance(2000);
      expect(await node.tick.turn()).toBe(200);
      expect(await slots()).toEqual([1]);
    });

    it('as a standby at most until the lease may be free', async () => {
      const [leader, standby] = [harness.coordinator('leader'), harness.coordinator('standby')];
      await leader.tick.turn();
      expect(await standby.tick.turn()).toBe(1000);
      await harness.clock.advance(LEASE_MS - 300);
      expect(await standby.tick.turn()).toBe(301);
      await harness.clock.advance(301);
      await standby.tick.turn();
      expect(standby.leadership.isCurrent()).toBe(true);
    });
  });

  it('marks a task whose row is broken, tries it again later, and fires all others', async () => {
    await harness.add(every(1, { id: 'broken' }), every(1, { id: 'good' }));
    await harness.query(`UPDATE task_meta SET executor_json = 'no' WHERE id = 'broken'`);
    const node = harness.coordinator('leader');
    await harness.clock.advance(1000);
    expect(await node.tick.turn()).toBe(1000);
    expect((await harness.all()).map(({ event }) => event.taskId)).toEqual(['good']);
    expect(total(node.metrics, 'task_errors_total')).toBe(1);
    const marked = await harness.query(`SELECT error FROM task_meta WHERE id = 'broken'`);
    expect(marked).toEqual([{ error: 'executor_json holds "no"' }]);

    await harness.clock.advance(1000);
    await node.tick.turn();
    expect(total(node.metrics, 'task_errors_total')).toBe(1);
    const executor = JSON.stringify(every(1).executor);
    await harness.query(`UPDATE task_meta SET executor_json = '${executor}' WHERE id = 'broken'`);
    await harness.clock.advance(59_000);
    await node.tick.turn();
    expect((await harness.all('broken')).map(({ event }) => (event.slot - BASE) / 1000)).toEqual([1, 55]);
    expect(await harness.query(`SELECT error FROM task_meta WHERE id = 'broken'`)).toEqual([{ error: null }]);
  });

  it('measures how late each trigger is and what it did', async () => {
    await harness.add(every(1));
    const node = harness.coordinator('leader');
    await harness.clock.advance(1250);
    await node.tick.turn();
    expect(valuesOf(node.metrics, 'trigger_lateness_seconds')).toEqual([0.25]);
    expect(total(node.metrics, 'triggers_total', { kind: 'schedule' })).toBe(1);
    const [, facts] = node.logger.lines.find(([, , message]) => message === 'triggered') ?? [];
    const { event } = (await harness.only()).execution;
    expect(facts).toMatchObject({
      task_id: event.taskId,
      execution_id: event.id,
      trace_id: event.traceparent.split('-')[1],
      schedule_at: BASE + 1000,
      window_start: BASE + 1000,
      window_end: BASE + 6000,
      fired_at: BASE + 1250,
      misfire: false,
    });
  });
});
