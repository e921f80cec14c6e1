import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BASE, buildEvent } from '../../../support/builders.js';
import { type CoordinatorNode } from '../../../support/coordinator-node.js';
import { total } from '../../../support/measured.js';
import { type NodeHarness } from '../../../support/node-harness.js';
import { HOUR, hourly, RecoveryScene } from '../../../support/recovery-scene.js';

describe('RecoverExecutions', () => {
  let scene: RecoveryScene;
  let harness: NodeHarness;
  let node: CoordinatorNode;
  beforeEach(async () => {
    scene = await RecoveryScene.open();
    ({ harness, node } = scene);
  });
  afterEach(() => scene.close());

  const unknown = { status: 'fail', reason: 'outcome_unknown' };

  describe('publishes again', () => {
    it.each([true, false])(
      'what was never taken for sure: still pending in the same epoch (idempotent: %s)',
      async (isIdempotent) => {
        await scene.record(isIdempotent, 'before publish');
        await scene.sweep();
        expect(await scene.queued()).toBe(1);
        expect((await scene.execution()).status).toBe('pending');
        expect(await scene.ledger()).toEqual(['triggered', 'republished']);
        expect(total(node.metrics, 'republished_total')).toBe(1);
        await scene.sweep();
        expect(await scene.queued()).toBe(1);
        expect(await scene.ledger()).toEqual(['triggered', 'republished']);

        harness.worker('worker').start();
        node.start('collector');
        await harness.clock.advance(1000);
        expect((await scene.execution()).status).toBe('success');
      },
    );

    it('what an idempotent task may have begun, with claims above the last generation', async () => {
      await scene.record(true, 'after publish');
      await scene.reported({ status: 'running', generation: 3 });
      harness.loseQueue();
      await scene.sweep();
      expect(await scene.execution()).toMatchObject({ status: 'running', generation: 3 });
      harness.worker('worker').start();
      node.start('collector');
      await harness.clock.advance(1000);
      expect(await scene.execution()).toMatchObject({
        status: 'success',
        generation: 4,
        startedAt: BASE + HOUR,
      });
    });

    it('what an idempotent task was about to retry', async () => {
      await scene.record(true, 'after publish');
      await scene.reported({ status: 'retrying' });
      harness.loseQueue();
      await scene.sweep();
      expect(await scene.queued()).toBe(1);
    });

    it('a manual run with its own params', async () => {
      await harness.add(hourly(false));
      const event = buildEvent({
        taskId: 'task',
        kind: 'manual',
        id: harness.ids.next(),
        queueEpoch: 'life-1',
      });
      const audit = {
        at: BASE,
        actor: 'test',
        action: 'task.run',
        subject: 'task',
        before: null,
        after: null,
      };
      await harness.triggers.recordManual({ ...event, params: { size: 9 } }, null, audit);
      await scene.sweep();
      harness.worker('worker').start();
      await harness.clock.advance(0);
      expect(harness.executor.calls.map(({ request }) => request.params)).toEqual([{ size: 9 }]);
    });
  });

  describe('never runs again, but ends as outcome_unknown, what a task that is not idempotent may have begun', () => {
    it('before any report', async () => {
      await scene.record(false, 'after publish');
      harness.loseQueue();
      await scene.sweep();
      expect(await scene.execution()).toMatchObject({ ...unknown, finishedAt: harness.clock.now() });
      expect(await scene.queued()).toBe(0);
      expect((await scene.execution()).message).toContain('the task is not idempotent');
      expect(total(node.metrics, 'executions_total', unknown)).toBe(1);
    });

    it('with what is known of it', async () => {
      await scene.record(false, 'after publish');
      await scene.reported({ status: 'running', worker: 'worker-7', attempt: 1 });
      harness.loseQueue();
      await scene.sweep();
      expect(await scene.execution()).toMatchObject({ ...unknown, worker: 'worker-7', attempt: 1 });
      expect((await scene.execution()).startedAt).toBe(BASE + HOUR);
      expect(await scene.ledger()).toContain('finished');
      await scene.reported({ status: 'success', generation: 1, seq: 9 });
      expect(await scene.execution()).toMatchObject(unknown);
    });

    it('also when the queue loses its data while it is being asked', async () => {
      await scene.record(false, 'after publish');
      let asked = 0;
      node.redis.before = (method) => {
        if ((method === 'states' || method === 'epoch') && (asked += 1) === 4) harness.loseQueue();
      };
      await scene.sweep();
      expect(asked).toBe(4);
      expect(await scene.queued()).toBe(0);
      expect((await scene.execution()).status).toBe('pending');
      node.redis.before = () => undefined;
      await scene.sweep();
      expect(await scene.execution()).toMatchObject(unknown);
    });
  });

  describe('judges what has no readable task any more:', () => {
    const remove = () =>
      harness.tasks.delete('task', null, ({ id }) => {
        return { at: BASE, actor: 'test', action: 'task.delete', subject: id, before: null, after: null };
      });
    const breakRow = () => harness.query(`UPDATE task_meta SET executor_json = 'no'`);

    it('deleted before it was published', async () => {
      await scene.record(true, 'before publish');
      await remove();
      await scene.sweep();
      expect(await scene.execution()).toMatchObject({ status: 'skipped', reason: 'deleted' });
      expect(await scene.queued()).toBe(0);
    });

    it('deleted when it may have begun', async () => {
      await scene.record(true, 'after publish');
      await scene.reported({ status: 'running' });
      await remove();
      harness.loseQueue();
      await scene.sweep();
      expect(await scene.execution()).toMatchObject(unknown);
      expect((await scene.execution()).message).toContain('the task was deleted');
    });

    it('deleted and made again under the same id, idempotent this time', async () => {
      await scene.record(false, 'after publish');
      await remove();
      await harness.add({ ...hourly(true), createdAt: harness.clock.now() });
      harness.loseQueue();
      await scene.sweep();
      expect(await scene.execution()).toMatchObject(unknown);
      expect(await scene.queued()).toBe(0);
    });

    it('broken before it was published: waits, and goes when it is mended', async () => {
      const mended = JSON.stringify(hourly(true).executor);
      await scene.record(true, 'before publish');
      await breakRow();
      await scene.sweep();
      await scene.sweep();
      expect((await scene.execution()).status).toBe('pending');
      await harness.query(`UPDATE task_meta SET executor_json = '${mended}'`);
      await scene.sweep();
      expect(await scene.queued()).toBe(1);
    });

    it('broken when it may have begun', async () => {
      await scene.record(true, 'after publish');
      await breakRow();
      harness.loseQueue();
      await scene.sweep();
      expect(await scene.execution()).toMatchObject(unknown);
      expect((await scene.execution()).message).toContain('executor_json holds "no"');
    });
  });
});
