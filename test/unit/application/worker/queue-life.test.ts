import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QueueLife } from '../../../../src/application/worker/queue-life.js';
import { type Policy, DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { buildEvent, buildMessage, buildTask, snapshotOf } from '../../../support/builders.js';
import { hourly, RecoveryScene } from '../../../support/recovery-scene.js';
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
    await broker.queue.publish([buildMessage({ event, task, publishedAt: now, queueEpoch: 'life-0' })]);
  }

  it('ends as outcome_unknown without a call, if the task is not idempotent', async () => {
    await publishOfEarlierLife({});
    scene.harness.worker('first').start();
    await scene.harness.clock.advance(1000);
    expect(await scene.endings()).toEqual(['fail outcome_unknown']);
    expect((await scene.ended())[0]?.message).toContain('the queue lost data');
    expect(calls()).toBe(0);
  });

  it('is left to recovery without a call, if the task is idempotent', async () => {
    await publishOfEarlierLife({ isIdempotent: true });
    scene.harness.worker('first').start();
    await scene.harness.clock.advance(1000);
    expect(await scene.told()).toEqual(['claimed running', 'handed_back pending']);
    expect(calls()).toBe(0);
    expect(await scene.harness.broker.queue.depth()).toBe(0);
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

describe('A message of an idempotent task that outlived a loss of data in the queue', () => {
  let scene: RecoveryScene;
  beforeEach(async () => {
    scene = await RecoveryScene.open();
    await scene.record(true, 'after publish');
  });
  afterEach(() => scene.close());

  /** The queue is another one, which knows the message and nothing of what became of it. */
  async function outlive(): Promise<void> {
    const { event } = await scene.execution();
    scene.harness.loseQueue();
    const task = snapshotOf(hourly(true));
    await scene.harness.broker.queue.publish([buildMessage({ event, task, queueEpoch: event.queueEpoch })]);
    scene.harness.worker('worker').start();
    scene.node.start('collector');
    await scene.harness.clock.advance(1000);
    expect(scene.harness.executor.calls).toHaveLength(0);
    for (let i = 0; i < 3; i++) await scene.sweep();
    await scene.harness.clock.advance(1000);
  }

  it('is published again by recovery and runs then', async () => {
    await outlive();
    expect((await scene.execution()).status).toBe('success');
    expect(scene.harness.executor.calls).toHaveLength(1);
  });

  it('does not run when its end is on record', async () => {
    await scene.reported({ status: 'skipped', reason: 'overlap' });
    await outlive();
    expect(await scene.execution()).toMatchObject({ status: 'skipped', reason: 'overlap' });
    expect(scene.harness.executor.calls).toHaveLength(0);
  });
});

describe('QueueLife', () => {
  it('asks once for all questions of a turn, and anew in the next', async () => {
    const epochs = ['a', 'b'];
    let asked = 0;
    const life = new QueueLife({ epoch: async () => epochs[asked++] ?? '' });
    const of = (queueEpoch: string) => life.hasLastedSince({ queueEpoch });
    expect(await Promise.all([of('a'), of('b'), of('a')])).toEqual([true, false, true]);
    expect(asked).toBe(1);
    expect(await of('a')).toBe(false);
  });
});
