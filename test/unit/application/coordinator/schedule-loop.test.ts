import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BASE } from '../../../support/builders.js';
import { total } from '../../../support/measured.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

describe('ScheduleLoop', () => {
  let harness: NodeHarness;
  beforeEach(async () => {
    harness = await NodeHarness.open();
  });
  afterEach(() => harness.close());

  const fired = async () =>
    (await harness.all()).map(({ event }) => [event.node, event.slot - BASE, event.firedAt - event.slot]);

  it('fires each slot at its instant', async () => {
    await harness.add(every(7));
    harness.coordinator('leader').start('loop');
    await harness.clock.advance(21_000);
    expect(await fired()).toEqual([
      ['leader', 7000, 0],
      ['leader', 14_000, 0],
      ['leader', 21_000, 0],
    ]);
  });

  it('wakes when a task has changed, before its tick is over', async () => {
    harness.coordinator('leader', { leaseMs: 60_000, tickMs: 20_000 }).start('loop');
    await harness.clock.advance(100);
    await harness.add(every(1));
    await harness.wakeup.notify();
    await harness.clock.advance(900);
    expect(await fired()).toEqual([['leader', 1000, 0]]);
  });

  it('goes on after turns that failed, and says that it is not ready', async () => {
    await harness.add(every(1));
    harness.worker('worker').start();
    const node = harness.coordinator('leader').start('loop');
    await harness.clock.advance(1500);
    expect(node.readiness.report().parts).toContainEqual({ part: 'tick', isReady: true, problem: null });
    node.store.state = 'cut';
    await harness.clock.advance(2200);
    expect(total(node.metrics, 'tick_errors_total')).toBeGreaterThan(2);
    expect(node.readiness.report().parts).toContainEqual({
      part: 'tick',
      isReady: false,
      problem: 'decideDue: the store is away',
    });
    node.store.state = 'passing';
    await harness.clock.advance(1000);
    const slots = (await fired()).map(([, slot]) => slot);
    expect(slots).toEqual([1000, 2000, 3000, 4000]);
    expect(node.readiness.report().parts).toContainEqual({ part: 'tick', isReady: true, problem: null });
  });

  it('survives a turn that throws what nobody expects', async () => {
    await harness.add(every(1));
    const node = harness.coordinator('leader').start('loop');
    node.redis.before = () => {
      throw new TypeError('a bug');
    };
    await harness.clock.advance(900);
    node.redis.before = () => undefined;
    await harness.clock.advance(600);
    expect((await fired()).map(([, slot]) => slot)).toEqual([1000]);
  });

  it('hands over when it is stopped: the standby acts at once', async () => {
    await harness.add(every(1));
    const leader = harness.coordinator('leader', { leaseMs: 60_000, tickMs: 20_000 }).start('loop');
    await harness.clock.advance(0);
    harness.coordinator('standby', { leaseMs: 60_000, tickMs: 20_000 }).start('loop');
    await harness.clock.advance(1500);
    await leader.stop();
    await harness.clock.advance(1000);
    expect(await fired()).toEqual([
      ['leader', 1000, 0],
      ['standby', 2000, 0],
    ]);
    expect(leader.leadership.isCurrent()).toBe(false);
  });

  it('fires a slot that came due during the handover', async () => {
    await harness.add(every(10));
    const leader = harness.coordinator('leader').start('loop');
    await harness.clock.advance(9_900);
    await leader.stop();
    await harness.clock.advance(300);
    harness.coordinator('heir').start('loop');
    await harness.clock.advance(0);
    expect(await fired()).toEqual([['heir', 10_000, 200]]);
  });

  it('leaves the lease to its end after a crash, and nothing is lost or doubled', async () => {
    await harness.add(every(1));
    const leader = harness.coordinator('leader').start('loop');
    await harness.clock.advance(3500);
    leader.crash();
    harness.coordinator('standby').start('loop');
    await harness.clock.advance(10_000);
    const found = await fired();
    expect(found.map(([, slot]) => slot)).toEqual(Array.from({ length: 13 }, (_, i) => (i + 1) * 1000));
    expect(found.map(([node]) => node)).toEqual([
      ...Array<string>(3).fill('leader'),
      ...Array<string>(10).fill('standby'),
    ]);
    expect(Math.max(...found.map(([, , late]) => Number(late)))).toBeLessThanOrEqual(5000);
  });

  it('stops although the lease cannot be released', async () => {
    const node = harness.coordinator('leader').start('loop');
    await harness.clock.advance(100);
    node.redis.state = 'cut';
    await node.stop();
    expect(node.logger.lines.at(-1)?.[2]).toBe('lease not released, it ends by itself');
    expect(harness.clock.pendingTimers).toBe(0);
  });
});
