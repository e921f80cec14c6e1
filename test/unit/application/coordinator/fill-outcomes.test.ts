import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildReport, buildTask, BASE } from '../../../support/builders.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

describe('what workers know of other tasks', () => {
  let harness: NodeHarness;
  beforeEach(async () => void (harness = await NodeHarness.open()));
  afterEach(() => harness.close());

  const watching = (taskId: string) => ({
    pre: {
      check: { type: 'task_succeeded', taskId, withinSec: 3600 } as const,
      onFail: 'skip' as const,
      retryCount: 0,
      retryIntervalSec: 1,
    },
    post: null,
  });

  it('is completed from the store before anything is published in a new life of the queue, and once', async () => {
    const node = harness.coordinator('c-1');
    await harness.add(every(1, { id: 'load' }), buildTask({ id: 'sync', hooks: watching('load') }));
    await harness.clock.advance(1000);
    await node.tick.turn();
    const { event } = (await harness.only('load')).execution;
    const ended = {
      status: 'success',
      finishedAt: BASE + 1400,
      executionId: event.id,
      taskId: 'load',
    } as const;
    await harness.executions.apply([buildReport(ended)]);

    harness.loseQueue();
    expect(await harness.broker.lastOutcomes.read('load')).toBeNull();
    node.redis.before = (method) => {
      if (method === 'publish') expect(node.redis.calls).toContain('markFilled');
    };
    node.redis.calls.length = 0;
    await harness.clock.advance(1000);
    await node.tick.turn();
    expect(node.redis.calls).toContain('publish');
    expect(await harness.broker.lastOutcomes.read('load')).toEqual({
      status: 'success',
      slot: event.slot,
      finishedAt: BASE + 1400,
    });
    expect(await harness.broker.lastOutcomes.filledFor()).toBe('life-2');

    const reads = () => node.store.calls.filter((call) => call === 'watchedOutcomes').length;
    const before = reads();
    await node.tick.turn();
    expect(reads()).toBe(before);
    // A new leader in the same life asks the queue, not the store.
    const next = harness.coordinator('c-2');
    await node.leadership.release();
    await next.tick.turn();
    expect(next.store.calls).not.toContain('watchedOutcomes');
  });

  it('is tried again when the store or the queue was away, and nothing is published until then', async () => {
    const node = harness.coordinator('c-1');
    await harness.add(every(1, { id: 'load' }));
    await harness.clock.advance(1000);
    node.store.before = (method) => {
      if (method === 'watchedOutcomes') throw new Error('away');
    };
    await expect(node.tick.turn()).rejects.toThrow('away');
    expect(node.redis.calls).not.toContain('publish');
    node.store.before = () => undefined;
    await node.tick.turn();
    expect(node.redis.calls).toContain('publish');
  });
});
