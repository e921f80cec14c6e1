import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { intervalAnchor } from '../../src/domain/schedule.js';
import { isBroken, type Task } from '../../src/domain/task.js';
import { type PageRequest } from '../../src/ports/task-repo.js';
import { BASE, buildTask } from '../support/builders.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const PAGE: PageRequest = { size: 100, cursor: null, offset: 0 };

export function taskRepoSuite(name: string, open: StoreFactory): void {
  describe(`TaskRepo: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const insert = (overrides: Partial<Task> = {}) => {
      const task = buildTask(overrides);
      return store.tasks.insert(task, auditOf(task.id, 'task.create')).then(() => task);
    };
    const idsOf = async (filter: Parameters<Store['tasks']['list']>[0]) =>
      (await store.tasks.list(filter, PAGE)).items.map(({ id }) => id);
    const rename = (id: string, to: string, expectedVersion: number | null = null) =>
      store.tasks.update(id, expectedVersion, (current) => ({
        task: { ...(current as Task), name: to, version: current.version + 1 },
        audit: auditOf(id),
      }));

    it.each<[string, Partial<Task>]>([
      ['a cron task', {}],
      [
        'an interval task without start, created within a second',
        {
          createdAt: BASE + 59_999,
          schedule: {
            type: 'interval',
            everySec: 7,
            anchorAt: intervalAnchor(null, BASE + 59_999),
            startAt: null,
            endAt: BASE + 86_400_123,
            jitterSec: 0,
          },
        },
      ],
      [
        'an interval task with a start',
        {
          schedule: {
            type: 'interval',
            everySec: 366 * 86_400,
            anchorAt: BASE + 500,
            startAt: BASE + 500,
            endAt: null,
            jitterSec: 0,
          },
        },
      ],
      ['a task that runs once', { schedule: { type: 'once', runAt: BASE + 1 }, nextTriggerTime: BASE + 1 }],
      [
        'a task with everything set',
        {
          name: `Bericht „Übersicht“ \\ ' " % _ 報告 🚀`,
          group: 'größe',
          schedule: {
            type: 'cron',
            expr: '59 59 23 ? * 6L 2030-2040',
            timezone: 'Asia/Shanghai',
            dialect: 'quartz',
            dstGap: 'skip',
            dstOverlap: 'both',
            calendar: null,
            startAt: BASE - 1,
            endAt: BASE + 999,
            jitterSec: 0,
          },
          executor: {
            type: 'http',
            url: 'https://callee/x?q=1',
            method: 'PUT',
            headers: { 'X-A': "it's ?", B: '' },
            ack: 'receipt',
            signature: { secret: 'ORDERS' },
          },
          params: { deep: [1, null, { '?': ':id' }], text: '\u0000\u2028\\' },
          policy: {
            timeoutSec: 604_800,
            retryCount: 100,
            retryIntervalSec: 60,
            retryStrategy: 'exponential',
            retryMaxIntervalSec: 5_184_000,
            hasRetryJitter: true,
            slowAfterSec: 7,
            maxConcurrent: 1000,
            overlapPolicy: 'skip',
            misfirePolicy: 'catch_up',
            misfireLimit: 1000,
            misfireMaxAgeSec: 31_622_400,
            windowSec: 86_400,
            isIdempotent: true,
          },
          pool: 'p.1_a-b',
          labels: { 'app.kubernetes.io/name': 'ax', x: '"quoted" %_\\' },
          owner: 'ops@example',
          isEnabled: false,
          nextTriggerTime: null,
          version: 41,
          error: 'was broken — 壊れた',
        },
      ],
      ['the largest params', { params: 'x'.repeat(65_534) }],
    ])('gives back %s as it was', async (_, overrides) => {
      const task = await insert(overrides);
      expect(await store.tasks.find(task.id)).toEqual(task);
    });

    it('reads a cron task that an older version stored, with the rules that it had', async () => {
      const task = await insert();
      for (const column of ['cron_dialect', 'dst_gap', 'dst_overlap'])
        await store.spoil(task.id, column, null);
      expect(await store.tasks.find(task.id)).toEqual(task);
      await store.spoil(task.id, 'dst_gap', 'never');
      expect(await store.tasks.find(task.id)).toMatchObject({ error: 'dst_gap holds "never"' });
    });

    it('knows nothing of ids that are not there, in any script', async () => {
      await insert({ id: 'a' });
      for (const id of ['b', 'A', 'a ', 'ä', '任務', '', "' OR 1=1"])
        expect(await store.tasks.find(id)).toBeNull();
    });

    it('refuses an id that is taken, and leaves the task and the audit log as they were', async () => {
      const task = await insert({ id: 'same', name: 'first' });
      await expect(insert({ id: 'same', name: 'second' })).rejects.toMatchObject({ code: 'already_exists' });
      expect(await store.tasks.find('same')).toEqual(task);
      expect(await store.audit.list({ limit: 10 })).toHaveLength(1);
      await insert({ id: 'Same' });
    });

    it('stores a change with its audit entry or not at all', async () => {
      const task = await insert();
      store.failNext(/audit_log/i);
      await expect(rename(task.id, 'renamed')).rejects.toThrow('failed on purpose');
      store.failNext(/audit_log/i);
      await expect(
        store.tasks.delete(task.id, null, () => auditOf(task.id, 'task.delete')),
      ).rejects.toThrow();
      store.failNext(/audit_log/i);
      await expect(insert({ id: 'other' })).rejects.toThrow('failed on purpose');
      expect(await store.tasks.find(task.id)).toEqual(task);
      expect(await store.tasks.find('other')).toBeNull();
      expect(await store.audit.list({ limit: 10 })).toHaveLength(1);
    });

    it('updates what the change makes of the stored task, and returns it', async () => {
      const task = await insert();
      const updated = await store.tasks.update(task.id, 1, (current) => {
        expect(current).toEqual(task);
        return { task: { ...task, labels: { a: 'b' }, version: 2 }, audit: auditOf(task.id) };
      });
      expect(updated).toEqual({ ...task, labels: { a: 'b' }, version: 2 });
      expect(await store.tasks.find(task.id)).toEqual(updated);
      expect((await store.audit.list({ subject: task.id, limit: 10 })).map((entry) => entry.action)).toEqual([
        'task.update',
        'task.create',
      ]);
    });

    it('stores nothing of a change without an audit entry', async () => {
      const task = await insert();
      const unchanged = await store.tasks.update(task.id, 1, () => ({
        task: { ...task, name: 'never stored' },
        audit: null,
      }));
      expect(unchanged.name).toBe('never stored');
      expect(await store.tasks.find(task.id)).toEqual(task);
      expect(await store.audit.list({ limit: 10 })).toHaveLength(1);
    });

    it('refuses changes of a version that is not the stored one, and of tasks that are not there', async () => {
      const task = await insert();
      await expect(rename(task.id, 'x', 2)).rejects.toMatchObject({ code: 'version_conflict' });
      await expect(store.tasks.delete(task.id, 7, () => auditOf(task.id))).rejects.toMatchObject({
        code: 'version_conflict',
      });
      for (const id of ['missing', `${task.id} `, 'ä', '']) {
        await expect(rename(id, 'x')).rejects.toMatchObject({ code: 'not_found' });
      }
      await expect(store.tasks.delete('missing', null, () => auditOf('missing'))).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await store.tasks.find(task.id)).toEqual(task);
    });

    it('lets an error of the change through and stores nothing', async () => {
      const task = await insert();
      const failure = new Error('refused by a rule');
      const change = () => {
        throw failure;
      };
      await expect(store.tasks.update(task.id, null, change)).rejects.toBe(failure);
      expect(await store.tasks.find(task.id)).toEqual(task);
    });

    it('puts twenty concurrent changes in a row: none is lost', async () => {
      const task = await insert();
      await Promise.all(Array.from({ length: 20 }, (_, i) => rename(task.id, `name ${i}`)));
      expect(await store.tasks.find(task.id)).toMatchObject({ version: 21 });
    });

    it('lets one of twenty changes of the same version win', async () => {
      const task = await insert();
      const racers = Array.from({ length: 20 }, (_, i) => rename(task.id, `name ${i}`, 1));
      const outcomes = await Promise.allSettled(racers);
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(lost).toHaveLength(19);
      for (const { reason } of lost) expect(reason).toMatchObject({ code: 'version_conflict' });
    });

    it('deletes', async () => {
      const task = await insert();
      await store.tasks.delete(task.id, 1, (current) => auditOf(current.id, 'task.delete'));
      expect(await store.tasks.find(task.id)).toBeNull();
      expect((await store.audit.list({ limit: 1 }))[0]).toMatchObject({ action: 'task.delete' });
    });

    it('shows a row that is no task any more, and lets it be replaced or deleted', async () => {
      const [task, other] = [await insert({ name: 'Report', group: 'g' }), await insert()];
      await store.spoil(task.id, 'executor_json', '{"type":"teleport"}');
      await store.spoil(other.id, 'labels_json', 'no json');
      const broken = await store.tasks.find(task.id);
      expect(broken).toMatchObject({ id: task.id, name: 'Report', group: 'g', isEnabled: true, version: 1 });
      expect((broken as { error: string }).error).toContain('executor_json');
      expect((await store.tasks.list({}, PAGE)).items.filter(isBroken)).toHaveLength(2);
      expect(await idsOf({ label: { key: 'a', value: 'b' } })).toEqual([]);
      await store.tasks.update(task.id, 1, (current) => {
        expect(isBroken(current)).toBe(true);
        return { task: { ...task, version: 2 }, audit: auditOf(task.id) };
      });
      expect(await store.tasks.find(task.id)).toEqual({ ...task, version: 2 });
      await store.tasks.delete(other.id, null, () => auditOf(other.id));
      expect(await idsOf({})).toEqual([task.id]);
    });
  });
}
