import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BrokenTask, isBroken, type Task } from '../../src/domain/task.js';
import { BASE, buildTask } from '../support/builders.js';
import { fireAll, HELD_UNTIL, HOUR_MS } from '../support/deciding.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const DUE = BASE + HOUR_MS;

/** The part of TriggerRepo that looks at tasks: what is due when, rows that cannot be read, edits meanwhile. */
export function triggerTasksSuite(name: string, open: StoreFactory): void {
  describe(`TriggerRepo and tasks: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const insert = async (overrides: Partial<Task> = {}) => {
      const task = buildTask(overrides);
      await store.tasks.insert(task, auditOf(task.id));
      return task;
    };
    const decide = (now: number, by = fireAll) =>
      store.triggers.decideDue({ now, limit: 1000, mayCommit: () => true }, (due) => by(due));

    it.each<[string, string | number | null]>([
      ['executor_json', 'not json'],
      ['executor_json', '{"type":"shell","command":"rm"}'],
      ['executor_json', '{"type":"http","url":"ftp://x/","method":"POST","headers":{}}'],
      ['executor_json', '[]'],
      ['params_json', '{'],
      ['labels_json', '{"a":1}'],
      ['schedule_type', 'lunar'],
      ['cron_expr', '61 * * * *'],
      ['cron_expr', null],
      ['timezone', 'Mars/Olympus'],
      ['timeout_sec', 0],
      ['timeout_sec', -5],
      ['window_sec', 999_999],
      ['misfire_limit', 1_000_000],
      ['retry_count', 3],
      ['retry_strategy', 'hopeful'],
      ['misfire_policy', ''],
      ['overlap_policy', 'maybe'],
      ['idempotent', 7],
    ])('hands over a row with a bad %s (%s) as broken, beside good ones', async (column, value) => {
      const [good, bad] = [await insert(), await insert({ name: 'Bad', group: 'g' })];
      await store.spoil(bad.id, column, value);
      let seen: readonly (Task | BrokenTask)[] = [];
      const outcome = await decide(DUE, (due) => fireAll((seen = due)));
      expect(seen.filter((task) => !isBroken(task))).toEqual([good]);
      const broken = seen.find(isBroken);
      expect(broken).toMatchObject({ id: bad.id, name: 'Bad', group: 'g', isEnabled: true, version: 1 });
      expect(broken?.error).toMatch(/\w/);
      expect(outcome.recorded.map(({ task }) => task.id)).toEqual([good.id]);
    });

    it('keeps the cursor of a task in error, holds it, and shows the error until it is mended', async () => {
      const task = await insert();
      await store.spoil(task.id, 'timeout_sec', 0);
      await decide(DUE, () => ({
        fired: [],
        skipped: [],
        advances: [],
        errors: [{ taskId: task.id, error: `timeout_sec — ${'漢'.repeat(2000)}`, holdUntil: DUE + 60_000 }],
      }));
      expect((await decide(DUE + 59_999)).dueCount).toBe(0);
      await store.spoil(task.id, 'timeout_sec', 30);
      const stored = (await store.tasks.find(task.id)) as Task;
      expect(stored.nextTriggerTime).toBe(DUE);
      expect(stored.error).toMatch(/^timeout_sec — 漢+… \[cut\]$/);
      await decide(DUE + 60_000);
      expect(await store.tasks.find(task.id)).toEqual({ ...task, nextTriggerTime: DUE + HOUR_MS });
    });

    it('reads a mended task at once: an edit ends the hold', async () => {
      const task = await insert();
      await decide(DUE, () => ({
        fired: [],
        skipped: [],
        advances: [],
        errors: [{ taskId: task.id, error: 'bad', holdUntil: HELD_UNTIL }],
      }));
      expect((await decide(DUE)).dueCount).toBe(0);
      await store.tasks.update(task.id, null, () => ({ task, audit: auditOf(task.id) }));
      expect((await decide(DUE)).recorded).toHaveLength(1);
    });

    it('says when the next task is due, with holds, over enabled tasks only', async () => {
      expect(await store.triggers.nextDueAt()).toBeNull();
      await insert({ isEnabled: false, nextTriggerTime: BASE });
      await insert({ nextTriggerTime: null });
      expect(await store.triggers.nextDueAt()).toBeNull();
      const held = await insert({ nextTriggerTime: DUE - 5000 });
      expect(await store.triggers.nextDueAt()).toBe(DUE - 5000);
      await decide(DUE, () => ({
        fired: [],
        skipped: [],
        advances: [{ taskId: held.id, nextSlot: DUE - 1, holdUntil: DUE + 777 }],
        errors: [],
      }));
      expect(await store.triggers.nextDueAt()).toBe(DUE + 777);
      await insert({ nextTriggerTime: DUE + 778 });
      expect(await store.triggers.nextDueAt()).toBe(DUE + 777);
      await insert({ nextTriggerTime: DUE + 776 });
      expect(await store.triggers.nextDueAt()).toBe(DUE + 776);
    });

    it('counts the backlog', async () => {
      expect(await store.triggers.countDue(DUE)).toBe(0);
      await insert({ nextTriggerTime: DUE });
      await insert({ nextTriggerTime: DUE - HOUR_MS });
      await insert({ nextTriggerTime: DUE + 1 });
      await insert({ nextTriggerTime: DUE, isEnabled: false });
      expect(await store.triggers.countDue(DUE)).toBe(2);
    });

    it('never undoes a tick by an edit at the same time, nor an edit by a tick', async () => {
      const tasks = [];
      for (let i = 0; i < 30; i++) tasks.push(await insert());
      const edit = (task: Task) =>
        store.tasks.update(task.id, null, (current) => ({
          task: { ...(current as Task), name: 'edited', version: current.version + 1 },
          audit: auditOf(task.id),
        }));
      await Promise.all([decide(DUE), ...tasks.map(edit), decide(DUE)]);
      await decide(DUE);
      for (const task of tasks) {
        expect(await store.tasks.find(task.id)).toEqual({
          ...task,
          name: 'edited',
          version: 2,
          nextTriggerTime: DUE + HOUR_MS,
        });
      }
      expect((await decide(DUE)).dueCount).toBe(0);
    });
  });
}
