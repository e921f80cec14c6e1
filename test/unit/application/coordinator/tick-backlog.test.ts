import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type Policy } from '../../../../src/domain/policy.js';
import { type Task } from '../../../../src/domain/task.js';
import { BASE } from '../../../support/builders.js';
import { total, valuesOf } from '../../../support/measured.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

const withPolicy = (policy: Partial<Policy>): Partial<Task> => ({ policy: { ...DEFAULT_POLICY, ...policy } });

describe('Tick, when more is due than may run', () => {
  let harness: NodeHarness;
  beforeEach(async () => {
    harness = await NodeHarness.open();
  });
  afterEach(() => harness.close());

  const slots = async () => (await harness.all()).map(({ event }) => (event.slot - BASE) / 1000);
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

  describe('a queue that is too deep', () => {
    it('stops dispatch, shows it, and loses nothing', async () => {
      const node = harness.coordinator('leader', { queueLimit: 2 });
      await harness.add(...['a', 'b', 'c'].map((id) => every(3, { id, ...withPolicy({ windowSec: 60 }) })));
      await harness.clock.advance(3000);
      await node.tick.turn();
      expect(valuesOf(node.metrics, 'dispatch_paused')).toEqual([0]);

      await harness.clock.advance(3000);
      expect(await node.tick.turn()).toBe(1000);
      expect(valuesOf(node.metrics, 'dispatch_paused').at(-1)).toBe(1);
      expect(await slots()).toEqual([3, 3, 3]);

      harness.worker('worker').start();
      node.start('loop');
      await harness.clock.advance(1000);
      expect(valuesOf(node.metrics, 'dispatch_paused').at(-1)).toBe(0);
      expect(await slots()).toEqual([3, 3, 3, 6, 6, 6]);
    });
  });

  describe('late slots of one task', () => {
    /** Leader away for `seconds`; then it, a worker and a collector run. */
    const outage = async (seconds: number) => {
      await harness.clock.advance(seconds * 1000);
      harness.worker('worker').start();
      return harness.coordinator('leader').start();
    };

    it.each([300, 600, 740])(
      'wait for each other, as does the first one on time, so that no run of %i ms is skipped for an overlap',
      async (runMs) => {
        harness.executor.script = harness.executor.lasting(runMs);
        await harness.add(every(1));
        const node = await outage(5);
        await harness.clock.advance(70_400);
        expect(await slots()).toEqual(upTo(75));
        const ends = (await harness.all()).map(({ status }) => status).slice(0, -1);
        expect(ends).toEqual(upTo(74).map(() => 'success'));
        expect(harness.executor.peak).toBe(1);
        expect(valuesOf(node.metrics, 'trigger_lateness_seconds').at(-1)).toBeLessThan(0.2);
      },
    );

    it('run at once as often as max_concurrent allows', async () => {
      harness.executor.script = harness.executor.lasting(2900);
      await harness.add(every(10, withPolicy({ windowSec: 60, maxConcurrent: 3 })));
      await outage(50);
      await harness.clock.advance(1000);
      expect(harness.executor.running).toBe(3);
      await harness.clock.advance(8000);
      expect(await slots()).toEqual([10, 20, 30, 40, 50]);
      expect(harness.executor.peak).toBe(3);
      expect(new Set((await harness.all()).map(({ status }) => status))).toEqual(new Set(['success']));
    });

    it('catch up to on time also when the task overlaps itself for ever', async () => {
      harness.executor.script = harness.executor.lasting(3500);
      await harness.add(every(1));
      const node = await outage(60);
      await harness.clock.advance(80_000);
      const late = valuesOf(node.metrics, 'trigger_lateness_seconds');
      expect(late.slice(0, 3).every((seconds) => seconds > 3)).toBe(true);
      expect(late.slice(-20)).toEqual(Array(20).fill(0));
      const executions = await harness.all();
      const last = executions.map(({ event }) => (event.slot - BASE) / 1000).slice(-20);
      expect(last).toEqual(upTo(20).map((i) => 120 + i));
      expect(new Set(executions.map(({ reason }) => reason))).toEqual(new Set(['misfire', 'overlap', null]));
    });

    it('are made up for in their order, paced, and then the task is on time', async () => {
      harness.executor.script = harness.executor.lasting(100);
      await harness.add(every(60, withPolicy({ misfirePolicy: 'catch_up', misfireLimit: 5 })));
      const node = await outage(3600);
      await harness.clock.advance(3000);
      const calls = harness.executor.calls.map(({ request }) => (request.slot - BASE) / 60_000);
      expect(calls).toEqual([55, 56, 57, 58, 59, 60]);
      const starts = harness.executor.calls.map(({ startedAt }) => startedAt);
      for (const [i, at] of starts.slice(1).entries())
        expect(at - (starts[i] ?? 0)).toBeGreaterThanOrEqual(200);
      expect(total(node.metrics, 'misfires_total', { policy: 'catch_up' })).toBe(5);
      const [skipped] = await harness.all();
      expect(skipped).toMatchObject({ status: 'skipped', reason: 'misfire' });
      expect(skipped?.event).toMatchObject({ slot: BASE + 60_000, rangeEnd: BASE + 54 * 60_000 });
      expect(await harness.triggers.nextDueAt()).toBe(BASE + 61 * 60_000);
    });

    it('of a broken-off transaction that is repeated are not taken for running', async () => {
      await harness.add(every(1));
      const node = harness.coordinator('leader');
      await harness.clock.advance(3000);
      const { triggers } = harness;
      const decideDue = triggers.decideDue.bind(triggers);
      triggers.decideDue = (request, decide) =>
        decideDue(request, (due) => {
          decide(due);
          return decide(due);
        });
      await node.tick.turn();
      expect(await slots()).toEqual([1]);
    });

    it('are forgotten by a leader once their runs have ended', async () => {
      await harness.add(every(1));
      const node = await outage(4);
      await harness.clock.advance(5000);
      node.redis.calls.length = 0;
      await harness.clock.advance(5000);
      expect(node.redis.calls).not.toContain('states');
    });
  });
});
