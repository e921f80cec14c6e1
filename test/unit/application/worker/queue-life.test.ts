import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QueueLife } from '../../../../src/application/worker/queue-life.js';
import { type Policy, DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { buildEvent, buildMessage, buildTask, snapshotOf } from '../../../support/builders.js';
import { RunScene } from '../../../support/run-scene.js';

describe('A message that outlived a loss of data in the queue, so that its claim may be forgotten', () => {
  let scene: RunScene;
  beforeEach(async () => {
    scene = await RunScene.open();
  });
  afterEach(() => scene.close());

  const calls = () => scene.executor.calls.length;

  async function publishOfEarlierLife(policy: Partial<Policy>): Promise<void> {
    const { clock, broker } = scene.harness;
    const task = snapshotOf(buildTask({ id: 'task', policy: { ...DEFAULT_POLICY, ...policy } }));
    const now = clock.now();
    const event = buildEvent({ taskId: 'task', slot: now, firedAt: now, queueEpoch: 'life-0' });
    await broker.queue.publish([buildMessage({ event, task, publishedAt: now })]);
  }

  it('ends as outcome_unknown without a call, if the task is not idempotent', async () => {
    await publishOfEarlierLife({});
    scene.harness.worker('first').start();
    await scene.harness.clock.advance(1000);
    expect(await scene.endings()).toEqual(['fail outcome_unknown']);
    expect((await scene.ended())[0]?.message).toContain('the queue lost data');
    expect(calls()).toBe(0);
  });

  it('runs, and says that it may have run before, if the task is idempotent', async () => {
    await publishOfEarlierLife({ isIdempotent: true });
    scene.harness.worker('first').start();
    await scene.harness.clock.advance(1000);
    expect(await scene.told()).toEqual(['claimed running', 'reclaimed running', 'finished success']);
    const reclaimed = (await scene.reports()).find(({ entry }) => entry.kind === 'reclaimed');
    expect(reclaimed?.entry.detail).toEqual({ previous_worker: null, previous_generation: null });
    expect(calls()).toBe(1);
  });

  it('is not judged, and does not begin, before the queue answers', async () => {
    await scene.publish();
    const worker = scene.harness.worker('first');
    worker.redis.before = (method) => {
      if (method === 'epoch') throw new Error('the queue is away');
    };
    worker.start();
    await scene.harness.clock.advance(5000);
    expect(calls()).toBe(0);
    worker.redis.before = () => undefined;
    await scene.harness.clock.advance(10_000);
    expect(await scene.endings()).toEqual(['success']);
  });
});

describe('QueueLife', () => {
  it('asks once for all questions of a turn, and anew in the next', async () => {
    const epochs = ['a', 'b'];
    let asked = 0;
    const life = new QueueLife({ epoch: async () => epochs[asked++] ?? '' });
    const of = (queueEpoch: string) => life.hasLastedSince(buildEvent({ queueEpoch }));
    expect(await Promise.all([of('a'), of('b'), of('a')])).toEqual([true, false, true]);
    expect(asked).toBe(1);
    expect(await of('a')).toBe(false);
  });
});
