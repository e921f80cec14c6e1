import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InProcessWorkerRegistry } from '../../../../src/adapters/embedded/in-process-worker-registry.js';
import { type TaskDraft, ManageTasks } from '../../../../src/application/tasks/manage-tasks.js';
import { InvalidInput } from '../../../../src/domain/errors.js';
import { intervalAnchor } from '../../../../src/domain/schedule.js';
import { isBroken, type Task, type TaskDefinition } from '../../../../src/domain/task.js';
import { BASE, buildTask } from '../../../support/builders.js';
import { NodeHarness } from '../../../support/node-harness.js';

const ALICE = { name: 'alice', traceparent: null };

describe('ManageTasks', () => {
  let harness: NodeHarness;
  let manage: ManageTasks;
  let registry: InProcessWorkerRegistry;
  let wakeUps: number;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    const { tasks, wakeup, clock, ids } = harness;
    registry = new InProcessWorkerRegistry(clock);
    manage = new ManageTasks({ tasks, wakeup, registry, clock, ids });
    wakeUps = 0;
    wakeup.subscribe(() => (wakeUps += 1));
  });
  afterEach(() => harness.close());

  const draft =
    (overrides: Partial<TaskDefinition> = {}): TaskDraft =>
    (createdAt) => {
      const { name, group, executor, params, policy, hooks, pool, labels, owner, isEnabled } = buildTask();
      const anchorAt = intervalAnchor(null, createdAt);
      const schedule = {
        type: 'interval',
        everySec: 60,
        anchorAt,
        startAt: null,
        endAt: null,
        jitterSec: 0,
      } as const;
      return {
        name,
        group,
        schedule,
        executor,
        params,
        policy,
        hooks,
        pool,
        labels,
        owner,
        isEnabled,
        ...overrides,
      };
    };
  const audit = () => harness.audit.list({ limit: 10 });
  const stored = async (id: string): Promise<Task> => {
    const task = await harness.tasks.find(id);
    if (task === null || isBroken(task)) throw new Error(`no task ${id}`);
    return task;
  };

  describe('creates', () => {
    it('a task that is stored, audited, and told to the coordinators', async () => {
      await harness.clock.advance(30_000);
      const task = await manage.create('nightly', draft(), ALICE);
      expect(task).toMatchObject({ id: 'nightly', version: 1, createdAt: BASE + 30_000 });
      expect(task.nextTriggerTime).toBe(BASE + 90_000);
      expect(await stored('nightly')).toEqual(task);
      expect(await audit()).toEqual([
        {
          at: BASE + 30_000,
          actor: 'alice',
          action: 'task.create',
          subject: 'nightly',
          before: null,
          after: task,
        },
      ]);
      expect(wakeUps).toBe(1);
    });

    it('an id when none was given', async () => {
      const task = await manage.create(null, draft(), ALICE);
      expect(task.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(await stored(task.id)).toEqual(task);
    });

    it('nothing that breaks a rule, and says all of them', async () => {
      const creating = manage.create('bad id!', draft({ name: ' ', pool: '' }), ALICE);
      await expect(creating).rejects.toBeInstanceOf(InvalidInput);
      const both = manage.create('good', draft({ name: ' ', pool: '' }), ALICE);
      await expect(both).rejects.toMatchObject({ problems: [{ field: 'name' }, { field: 'pool' }] });
      expect([await audit(), wakeUps]).toEqual([[], 0]);
    });

    it('nothing in the place of another', async () => {
      await manage.create('nightly', draft(), ALICE);
      await expect(manage.create('nightly', draft({ name: 'Other' }), ALICE)).rejects.toMatchObject({
        code: 'already_exists',
      });
      expect(await audit()).toHaveLength(1);
      expect(wakeUps).toBe(1);
    });
  });

  describe('replaces', () => {
    it('a definition, and keeps phase and cursor of a schedule that did not change', async () => {
      await harness.clock.advance(30_000);
      const before = await manage.create('nightly', draft(), ALICE);
      await harness.clock.advance(10_000);
      const after = await manage.replace('nightly', 1, draft({ name: 'Renamed' }), ALICE);
      expect(after).toMatchObject({ name: 'Renamed', version: 2, createdAt: BASE + 30_000 });
      expect([after.schedule, after.nextTriggerTime]).toEqual([before.schedule, before.nextTriggerTime]);
      expect((await audit())[0]).toMatchObject({ action: 'task.update', subject: 'nightly', before, after });
      expect(wakeUps).toBe(2);
    });

    it('nothing of another version than expected', async () => {
      const before = await manage.create('nightly', draft(), ALICE);
      const replacing = manage.replace('nightly', 7, draft({ name: 'Renamed' }), ALICE);
      await expect(replacing).rejects.toMatchObject({ code: 'version_conflict' });
      expect(await stored('nightly')).toEqual(before);
      expect(wakeUps).toBe(1);
    });

    it('a broken row by a whole task', async () => {
      await manage.create('nightly', draft(), ALICE);
      await harness.query(`UPDATE task_meta SET executor_json = 'no'`);
      await harness.clock.advance(90_000);
      const mended = await manage.replace('nightly', null, draft(), ALICE);
      expect(mended).toMatchObject({ version: 2, error: null, nextTriggerTime: BASE + 150_000 });
      expect(await stored('nightly')).toEqual(mended);
    });

    it('nothing that is not there', async () => {
      await expect(manage.replace('nobody', null, draft(), ALICE)).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(wakeUps).toBe(0);
    });
  });

  describe('toggles', () => {
    it('to the other, and starts from now on when enabled again', async () => {
      await manage.create('nightly', draft(), ALICE);
      const off = await manage.toggle('nightly', null, null, ALICE);
      expect(off).toMatchObject({ isEnabled: false, nextTriggerTime: null, version: 2 });
      await harness.clock.advance(3_600_000);
      const on = await manage.toggle('nightly', null, null, ALICE);
      expect(on).toMatchObject({ isEnabled: true, nextTriggerTime: BASE + 3_660_000, version: 3 });
      expect((await audit()).map(({ action }) => action)).toEqual([
        'task.toggle',
        'task.toggle',
        'task.create',
      ]);
      expect(wakeUps).toBe(3);
    });

    it('to what is wanted, and changes nothing if it is so already', async () => {
      const before = await manage.create('nightly', draft(), ALICE);
      expect(await manage.toggle('nightly', 1, true, ALICE)).toEqual(before);
      expect(await stored('nightly')).toEqual(before);
      expect((await audit()).map(({ action }) => action)).toEqual(['task.create']);
      expect(wakeUps).toBe(1);
      expect(await manage.toggle('nightly', 1, false, ALICE)).toMatchObject({ isEnabled: false });
    });

    it('nothing of another version than expected, even if it is so already', async () => {
      await manage.create('nightly', draft(), ALICE);
      const toggling = manage.toggle('nightly', 7, true, ALICE);
      await expect(toggling).rejects.toMatchObject({ code: 'version_conflict' });
    });

    it('no broken task, since nobody knows when it would fire', async () => {
      await manage.create('nightly', draft(), ALICE);
      await harness.query(`UPDATE task_meta SET executor_json = 'no'`);
      const toggling = manage.toggle('nightly', null, true, ALICE);
      await expect(toggling).rejects.toMatchObject({ code: 'conflict' });
    });
  });

  describe('deletes', () => {
    it('a task, broken or not, and keeps what it was in the audit log', async () => {
      const task = await manage.create('nightly', draft(), ALICE);
      await manage.delete('nightly', 1, ALICE);
      expect(await harness.tasks.find('nightly')).toBeNull();
      expect((await audit())[0]).toMatchObject({ action: 'task.delete', before: task, after: null });
      expect(wakeUps).toBe(2);

      await manage.create('broken', draft(), ALICE);
      await harness.query(`UPDATE task_meta SET executor_json = 'no'`);
      await manage.delete('broken', null, ALICE);
      expect(await harness.tasks.find('broken')).toBeNull();
    });

    it('nothing of another version than expected, nor what is not there', async () => {
      await manage.create('nightly', draft(), ALICE);
      await expect(manage.delete('nightly', 2, ALICE)).rejects.toMatchObject({ code: 'version_conflict' });
      await expect(manage.delete('nobody', null, ALICE)).rejects.toMatchObject({ code: 'not_found' });
      expect(await harness.tasks.find('nightly')).not.toBeNull();
      expect(wakeUps).toBe(1);
    });
  });
});
