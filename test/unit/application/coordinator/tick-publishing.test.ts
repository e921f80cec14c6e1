import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AxError } from '../../../../src/domain/errors.js';
import { type QueueMessage } from '../../../../src/ports/queue.js';
import { BASE, buildEvent, buildMessage } from '../../../support/builders.js';
import { type CoordinatorNode } from '../../../support/coordinator-node.js';
import { total, valuesOf } from '../../../support/measured.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

describe('Tick, from commit to queue', () => {
  let harness: NodeHarness;
  let node: CoordinatorNode;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    node = harness.coordinator('leader');
  });
  afterEach(() => harness.close());

  const states = async () => harness.broker.queue.states((await harness.all()).map(({ event }) => event));
  const refused = () => expect(node.tick.turn()).rejects.toMatchObject({ code: 'unavailable' });
  const decided = () => node.store.calls.filter((call) => call === 'decideDue').length;

  it('publishes what is committed, in one call, and nothing before', async () => {
    await harness.add(every(1, { id: 'a' }), every(1, { id: 'b' }));
    await harness.clock.advance(1000);
    const stored: number[] = [];
    node.redis.before = async (method, [messages]) => {
      if (method !== 'publish') return;
      expect(node.store.open, 'transactions that are not over').toBe(0);
      const ids = (messages as QueueMessage[]).map(({ event }) => event.id);
      const rows = await harness.query<{ id: string }>('SELECT id FROM trigger_event');
      stored.push(rows.filter(({ id }) => ids.includes(id)).length);
    };
    await node.tick.turn();
    expect(stored).toEqual([2]);
    expect(await states()).toEqual(['queued', 'queued']);
  });

  it('carries the task with the event', async () => {
    const task = every(1, { params: { size: 3 } });
    await harness.add(task);
    await harness.clock.advance(1000);
    await node.tick.turn();
    const { event } = (await harness.only()).execution;
    const { name, group, executor, params, policy, hooks, pool } = task;
    const [delivery] = await harness.broker.queue.take({
      pools: ['default'],
      taker: 'test',
      max: 10,
      waitMs: 0,
      reclaimAfterMs: 1000,
      signal: new AbortController().signal,
      onPoison: () => undefined,
    });
    expect(delivery?.message).toEqual({
      event,
      task: { id: task.id, name, group, executor, params, policy, hooks, pool },
      queueEpoch: 'life-1',
      generationFloor: 0,
      publishedAt: BASE + 1000,
    });
  });

  it('publishes first what it could not, and decides nothing new until that is out', async () => {
    await harness.add(every(1));
    await harness.clock.advance(1000);
    node.redis.before = (method) => {
      if (method === 'publish') throw new AxError('unavailable', 'the queue is away');
    };
    await refused();
    await harness.clock.advance(1000);
    await refused();
    await refused();
    expect(decided()).toBe(1);
    expect(await states()).toEqual(['unknown']);

    node.redis.before = () => undefined;
    node.redis.calls.length = 0;
    await node.tick.turn();
    expect(await states()).toEqual(['queued', 'queued']);
    expect(node.redis.calls.filter((call) => call === 'publish')).toHaveLength(2);
    expect((await harness.all()).map(({ event }) => event.slot - BASE)).toEqual([1000, 2000]);
  });

  it('doubles nothing when only the answer was lost', async () => {
    await harness.add(every(60));
    await harness.clock.advance(60_000);
    node.redis.before = (method) => {
      if (method === 'publish') node.redis.state = 'mute';
    };
    await refused();
    node.redis.state = 'passing';
    node.redis.before = () => undefined;
    await node.tick.turn();
    expect(await harness.broker.queue.depth()).toBe(1);
    expect(await states()).toEqual(['queued']);
  });

  it('leaves to recovery what it could not publish before it lost the lease', async () => {
    await harness.add(every(3600));
    await harness.clock.advance(3_600_000);
    node.redis.before = (method) => {
      if (method === 'publish') throw new AxError('unavailable', 'the queue is away');
    };
    await refused();
    node.redis.before = () => undefined;
    await harness.clock.advance(5000);
    const heir = harness.coordinator('heir');
    await heir.tick.turn();
    await node.tick.turn();
    expect(await states()).toEqual(['unknown']);

    heir.start('loop', 'recovery');
    await harness.clock.advance(30_000);
    expect(await states()).toEqual(['queued']);
    await heir.stop();
    node.redis.calls.length = 0;
    await node.tick.turn();
    expect(node.leadership.isCurrent()).toBe(true);
    expect(node.redis.calls).not.toContain('publish');
  });

  it('leaves to recovery what may have been taken before the queue lost its data', async () => {
    await harness.add(every(3600));
    await harness.clock.advance(3_600_000);
    node.redis.before = (method) => {
      if (method === 'publish') node.redis.state = 'mute';
    };
    await refused();
    node.redis.state = 'passing';
    node.redis.before = () => undefined;
    harness.loseQueue();
    await node.tick.turn();
    expect(await harness.broker.queue.depth()).toBe(0);
    for (let i = 0; i < 2; i++) {
      await harness.clock.advance(10_001);
      await node.tick.turn();
      await node.recovery.sweep();
    }
    expect((await harness.only()).execution).toMatchObject({ status: 'fail', reason: 'outcome_unknown' });
  });

  it('counts what the unique key refuses, moves on, and fires nothing', async () => {
    const task = every(1);
    await harness.add(task);
    await harness.clock.advance(1000);
    await node.tick.turn();
    await harness.query(`UPDATE task_meta SET next_trigger_time = ${BASE + 1000}`);
    await node.tick.turn();
    expect(await harness.all()).toHaveLength(1);
    expect(await harness.broker.queue.depth()).toBe(1);
    expect(total(node.metrics, 'duplicates_prevented_total', { line: 'unique_key' })).toBe(1);
    expect(total(node.metrics, 'triggers_total')).toBe(1);
    expect(await harness.triggers.nextDueAt()).toBe(BASE + 2000);
  });

  it('tells a refused range of skipped slots as a duplicate, not as skipped again', async () => {
    await harness.add(every(1));
    await harness.clock.advance(60_000);
    await node.tick.turn();
    await harness.query(`UPDATE task_meta SET next_trigger_time = ${BASE + 1000}, hold_until = NULL`);
    await harness.clock.advance(1000);
    await node.tick.turn();
    // Of 54 slots whose window has passed the newest fires.
    expect(valuesOf(node.metrics, 'slots_skipped_total')).toEqual([53]);
    expect(total(node.metrics, 'duplicates_prevented_total', { line: 'unique_key' })).toBe(1);
    expect(total(node.metrics, 'triggers_total')).toBe(2);
  });

  describe('ends an event whose slot the queue knows from another one as a skipped duplicate', () => {
    beforeEach(async () => {
      await harness.add(every(60, { id: 'restored' }));
      const event = buildEvent({ taskId: 'restored', slot: BASE + 60_000 });
      await harness.broker.queue.publish([buildMessage({ event })]);
      await harness.clock.advance(60_000);
    });

    const ending = async () => (await harness.only()).execution;

    it('at once', async () => {
      await node.tick.turn();
      expect(await ending()).toMatchObject({ status: 'skipped', reason: 'duplicate' });
      expect(total(node.metrics, 'duplicates_prevented_total', { line: 'slot_lock' })).toBe(1);
      expect(await harness.broker.queue.depth()).toBe(1);
    });

    it('in recovery, when it could not be recorded at once', async () => {
      node.store.before = (method) => {
        if (method === 'apply') throw new AxError('unavailable', 'the store is away');
      };
      await node.tick.turn();
      expect((await ending()).status).toBe('pending');
      node.store.before = () => undefined;
      for (let i = 0; i < 2; i++) {
        await harness.clock.advance(10_001);
        await node.tick.turn();
        await node.recovery.sweep();
      }
      expect(await ending()).toMatchObject({ status: 'skipped', reason: 'duplicate' });
      expect(total(node.metrics, 'duplicates_prevented_total', { line: 'slot_lock' })).toBe(2);
    });
  });
});
