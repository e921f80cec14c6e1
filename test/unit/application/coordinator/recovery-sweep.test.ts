import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js';
import { buildMessage } from '../../../support/builders.js';
import { type CoordinatorNode } from '../../../support/coordinator-node.js';
import { every, type NodeHarness } from '../../../support/node-harness.js';
import { GRACE_MS, HOUR, RecoveryScene } from '../../../support/recovery-scene.js';

describe('RecoverExecutions, as a sweep', () => {
  let scene: RecoveryScene;
  let harness: NodeHarness;
  let node: CoordinatorNode;
  beforeEach(async () => {
    scene = await RecoveryScene.open();
    ({ harness, node } = scene);
  });
  afterEach(() => scene.close());

  describe('leaves alone', () => {
    const untouched = async (status: string) => {
      expect((await scene.execution()).status).toBe(status);
      expect(await scene.ledger()).not.toContain('republished');
      expect(await scene.queued()).toBeLessThanOrEqual(1);
    };

    it('what is queued, running, or finished and not applied yet', async () => {
      await scene.record(false, 'after publish');
      await scene.sweep();
      await untouched('pending');
      harness.executor.script = harness.executor.lasting(60_000);
      harness.worker('worker').start();
      await harness.clock.advance(30_000);
      await scene.sweep();
      await untouched('pending');
      await harness.clock.advance(60_000);
      await scene.sweep();
      await untouched('pending');
      expect(await scene.queued()).toBe(0);
      node.start('collector');
      await harness.clock.advance(0);
      await untouched('success');
    });

    it('what may be running, until workers have had time to assert their claims in a queue that lost its data', async () => {
      await scene.record(true, 'after publish');
      harness.executor.script = harness.executor.lasting(120_000);
      harness.worker('worker').start();
      node.start('collector');
      await harness.clock.advance(30_000);
      await node.leadership.ensure();
      await node.recovery.sweep();
      harness.loseQueue();
      await node.leadership.ensure();
      await node.recovery.sweep();
      await untouched('running');
      await scene.sweep();
      await untouched('running');
      expect(harness.executor.calls).toHaveLength(1);
    });

    it('what is younger than the grace', async () => {
      await scene.record(false, 'before publish');
      await node.leadership.ensure();
      await node.recovery.sweep();
      await harness.clock.advance(GRACE_MS - 1001);
      await node.leadership.ensure();
      await node.recovery.sweep();
      await untouched('pending');
    });

    it('everything while results wait so long that nothing is sure', async () => {
      await harness.broker.queue.publish([buildMessage()]);
      harness.worker('worker').start();
      await scene.record(false, 'before publish');
      expect((await harness.broker.results.backlog()).depth).toBeGreaterThan(0);
      await scene.sweep();
      await untouched('pending');
      node.start('collector');
      await scene.sweep();
      expect(await scene.ledger()).toContain('republished');
    });

    it('everything unless it leads', async () => {
      await scene.record(false, 'before publish');
      await harness.coordinator('other', { leaseMs: 600_000 }).leadership.ensure();
      await scene.sweep();
      await untouched('pending');
      expect([...node.store.calls, ...node.redis.calls.filter((call) => call !== 'acquire')]).toEqual([]);
    });
  });

  it('leaves runs that wait in their line, and gives the first its turn when nobody else does', async () => {
    const policy = { ...DEFAULT_POLICY, overlapPolicy: 'queue' } as const;
    const task = every(10, { policy });
    await harness.add(task);
    const { broker, clock } = harness;
    node.start('loop');
    await clock.advance(30_500);
    const taken = await broker.queue.take({
      ...{ pools: ['default'], taker: 'doomed', max: 10, waitMs: 0, reclaimAfterMs: HOUR },
      signal: new AbortController().signal,
      onPoison: () => undefined,
    });
    const answers = [];
    for (const delivery of taken)
      answers.push((await broker.claims.claim(delivery, 'doomed', 60_000)).outcome);
    expect(answers).toEqual(['claimed', 'waiting', 'waiting']);
    const states = () => broker.queue.states(taken.map(({ message }) => message.event));
    await node.recovery.sweep();
    expect(await states()).toEqual(['claimed', 'waiting', 'waiting']);
    await clock.advance(60_000);
    await node.recovery.sweep();
    expect((await states()).slice(1)).toEqual(['queued', 'waiting']);
    const { ledger } = (await harness.executions.find(taken[1]?.message.event.id ?? '')) ?? { ledger: [] };
    expect(ledger.map(({ kind }) => kind)).toEqual(['triggered']);
  });

  it('settles more than one page', async () => {
    await harness.add(...Array.from({ length: 501 }, () => every(3600)));
    await harness.clock.advance(HOUR);
    const former = harness.coordinator('former', { leaseMs: 1000 });
    await former.tick.turn();
    harness.loseQueue();
    await harness.clock.advance(1000);
    await scene.sweep();
    const reasons = (await harness.all()).map(({ reason }) => reason);
    expect(reasons).toEqual(Array(501).fill('outcome_unknown'));
  });

  it('goes on after sweeps that failed, until it is stopped', async () => {
    await scene.record(false, 'before publish');
    node.start('loop', 'recovery');
    node.store.before = (method) => {
      if (method === 'adoptPending') throw new Error('a bug');
    };
    await harness.clock.advance(30_000);
    expect(node.logger.lines.map(([, , message]) => message)).toContain(
      'recovery sweep failed, trying again',
    );
    node.store.before = () => undefined;
    await harness.clock.advance(30_000);
    expect(await scene.queued()).toBe(1);
  });
});
