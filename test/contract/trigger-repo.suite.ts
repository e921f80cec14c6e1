import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Task } from '../../src/domain/task.js';
import { type DecidedBatch, type TriggerOutcome } from '../../src/ports/trigger-repo.js';
import { BASE, buildTask } from '../support/builders.js';
import { eventFor, fireAll, HOUR_MS, skipReport } from '../support/deciding.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const DUE = BASE + HOUR_MS;

export function triggerRepoSuite(name: string, open: StoreFactory): void {
  describe(`TriggerRepo: ${name}`, () => {
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
    const decide = (
      now: number,
      by: Parameters<Store['triggers']['decideDue']>[1] = (due) => fireAll(due),
      options: { limit?: number; mayCommit?: () => boolean } = {},
    ): Promise<TriggerOutcome> =>
      store.triggers.decideDue({ now, limit: 1000, mayCommit: () => true, ...options }, by);
    const cursorOf = async ({ id }: Task) => ((await store.tasks.find(id)) as Task).nextTriggerTime;
    const eventsOf = async (taskId?: string) =>
      (
        await store.executions.list(taskId === undefined ? {} : { taskId }, {
          size: 2000,
          cursor: null,
          offset: 0,
        })
      ).items.map(({ event }) => event);
    const setCursor = (task: Task, nextTriggerTime: number | null) =>
      store.tasks.update(task.id, null, (current) => ({
        task: { ...(current as Task), nextTriggerTime },
        audit: auditOf(task.id),
      }));
    const nothingChanged = async (...tasks: Task[]) => {
      for (const task of tasks) expect(await store.tasks.find(task.id)).toEqual(task);
      expect(await eventsOf()).toEqual([]);
    };

    it('records what fires, moves the cursor on, and says what it did', async () => {
      const task = await insert();
      const event = eventFor(task, { slot: DUE, isMisfire: true, rangeEnd: DUE + 1, params: { own: [1] } });
      const outcome = await decide(DUE, (due) => {
        expect(due).toEqual([task]);
        return { ...fireAll(due), fired: [{ event, task }] };
      });
      expect(outcome).toEqual({ recorded: [{ event, task }], duplicates: [], dueCount: 1 });
      expect((await store.executions.find(event.id))?.execution).toMatchObject({ event, status: 'pending' });
      expect(await store.tasks.find(task.id)).toEqual({ ...task, nextTriggerTime: DUE + HOUR_MS });
      expect(await decide(DUE)).toEqual({ recorded: [], duplicates: [], dueCount: 0 });
    });

    it.each([0, 1, 499, 500, 999, 59_999])('is due at its very millisecond (%i), not before', async (ms) => {
      const task = await insert({ nextTriggerTime: DUE + ms });
      expect((await decide(DUE + ms - 1)).dueCount).toBe(0);
      const { recorded } = await decide(DUE + ms);
      expect(recorded[0]?.event.slot).toBe(DUE + ms);
      expect((await eventsOf())[0]).toEqual(recorded[0]?.event);
      expect(await cursorOf(task)).toBe(DUE + ms + HOUR_MS);
    });

    it('does not ask when nothing is due: disabled, ended, later', async () => {
      await insert({ isEnabled: false, nextTriggerTime: DUE });
      await insert({ nextTriggerTime: null });
      await insert({ nextTriggerTime: DUE + 1 });
      const unasked = () => expect.unreachable('was asked');
      expect(await decide(DUE, unasked)).toEqual({ recorded: [], duplicates: [], dueCount: 0 });
    });

    it('takes the oldest first, up to the limit', async () => {
      for (const id of ['c', 'a', 'd', 'b']) await insert({ id, nextTriggerTime: DUE + id.charCodeAt(0) });
      const first = await decide(DUE + 1000, undefined, { limit: 3 });
      expect(first.recorded.map(({ task }) => task.id)).toEqual(['a', 'b', 'c']);
      expect(first.dueCount).toBe(3);
      expect((await decide(DUE + 1000)).recorded.map(({ task }) => task.id)).toEqual(['d']);
    });

    it('leaves a slot to come alone until the end of its hold, not only until its time', async () => {
      const task = await insert();
      const hold = (due: Parameters<typeof fireAll>[0]): DecidedBatch => ({
        ...fireAll(due),
        advances: [{ taskId: task.id, nextSlot: DUE + 5000, holdUntil: DUE + 9000 }],
      });
      await decide(DUE, hold);
      expect(await store.triggers.nextDueAt()).toBe(DUE + 9000);
      expect((await decide(DUE + 8999)).dueCount).toBe(0);
      expect((await decide(DUE + 9000)).recorded.map(({ event }) => event.slot)).toEqual([DUE + 5000]);
    });

    it('leaves a held task alone until the very end of its hold', async () => {
      const task = await insert();
      const hold = (due: Parameters<typeof fireAll>[0]): DecidedBatch => ({
        ...fireAll(due),
        advances: [{ taskId: task.id, nextSlot: DUE + 1, holdUntil: DUE + 1200 }],
      });
      await decide(DUE + 1000, hold);
      expect((await decide(DUE + 1199)).dueCount).toBe(0);
      expect(await store.triggers.nextDueAt()).toBe(DUE + 1200);
      expect((await decide(DUE + 1200)).recorded[0]?.event.slot).toBe(DUE + 1);
      expect(await store.triggers.nextDueAt()).toBe(DUE + 1 + HOUR_MS);
    });

    it('undoes everything when deciding fails, and lets the error through', async () => {
      const task = await insert();
      const bug = new Error('bug');
      const failing = () => {
        throw bug;
      };
      await expect(decide(DUE, failing)).rejects.toBe(bug);
      await nothingChanged(task);
      expect((await decide(DUE)).recorded).toHaveLength(1);
    });

    it('undoes everything when it may not commit', async () => {
      const task = await insert();
      const outcome = await decide(DUE, undefined, { mayCommit: () => false });
      expect(outcome).toEqual({ recorded: [], duplicates: [], dueCount: 1 });
      await nothingChanged(task);
      expect((await decide(DUE)).recorded).toHaveLength(1);
    });

    it.each(['trigger_event', 'execution_log', 'execution_event', '^UPDATE'])(
      'undoes everything when the statement on %s fails',
      async (statement) => {
        const [task, other] = [await insert(), await insert()];
        store.failNext(new RegExp(statement));
        const withSkip = (due: Parameters<typeof fireAll>[0]): DecidedBatch => {
          const event = eventFor(task, { slot: DUE - HOUR_MS });
          return { ...fireAll(due), skipped: [{ event, report: skipReport(event) }] };
        };
        await expect(decide(DUE, withSkip)).rejects.toThrow('failed on purpose');
        await nothingChanged(task, other);
        expect((await decide(DUE, withSkip)).recorded).toHaveLength(2);
      },
    );

    it('is unavailable when the commit fails; the same slots are due again', async () => {
      const task = await insert();
      const losing = decide(DUE, undefined, {
        mayCommit: () => {
          store.loseCommit();
          return true;
        },
      });
      await expect(losing).rejects.toMatchObject({ code: 'unavailable', retryable: true });
      await nothingChanged(task);
      expect((await decide(DUE)).recorded[0]?.event.slot).toBe(DUE);
      expect(await eventsOf()).toHaveLength(1);
    });

    it('refuses a second event of a slot without losing the others of the batch, and moves its cursor all the same', async () => {
      const tasks = [await insert(), await insert(), await insert()];
      const again = tasks[1]!;
      await decide(DUE, (due) => fireAll(due.filter(({ id }) => id === again.id)));
      await setCursor(again, DUE);
      const outcome = await decide(DUE);
      expect(outcome.recorded.map(({ task }) => task.id).toSorted()).toEqual(
        [tasks[0]!.id, tasks[2]!.id].toSorted(),
      );
      expect(outcome.duplicates).toMatchObject([{ taskId: again.id, slot: DUE }]);
      expect(outcome.dueCount).toBe(3);
      for (const task of tasks) {
        expect(await eventsOf(task.id)).toHaveLength(1);
        expect(await cursorOf(task)).toBe(DUE + HOUR_MS);
      }
    });

    it('keeps the first of two events for one slot in one batch', async () => {
      const task = await insert();
      const [first, second] = [eventFor(task), eventFor(task)];
      const outcome = await decide(DUE, (due) => ({
        ...fireAll(due),
        fired: [first, second].map((event) => ({ event, task })),
      }));
      expect(outcome.recorded.map(({ event }) => event.id)).toEqual([first.id]);
      expect(outcome.duplicates).toEqual([second]);
      expect(await eventsOf()).toEqual([first]);
    });

    it('tells slots apart by task, kind and millisecond', async () => {
      const [task, other] = [await insert({ id: 'task' }), await insert({ id: 'Task' })];
      const events = [
        eventFor(task),
        eventFor(other),
        eventFor(task, { kind: 'manual' }),
        eventFor(task, { slot: DUE + 1 }),
      ];
      const outcome = await decide(DUE, (due) => ({
        ...fireAll(due),
        fired: events.map((event) => ({ event, task })),
      }));
      expect(outcome.duplicates).toEqual([]);
      expect(await eventsOf()).toHaveLength(4);
    });

    it('records a skipped range with its verdict, which takes no second one', async () => {
      const task = await insert();
      const event = eventFor(task, { slot: DUE - HOUR_MS, rangeEnd: DUE - 1000, isMisfire: true });
      const skip = (): DecidedBatch => ({
        fired: [],
        skipped: [{ event, report: skipReport(event) }],
        advances: [{ taskId: task.id, nextSlot: null, holdUntil: null }],
        errors: [],
      });
      expect(await decide(DUE, skip)).toEqual({ recorded: [], duplicates: [], dueCount: 1 });
      const found = await store.executions.find(event.id);
      expect(found?.execution).toMatchObject({ event, status: 'skipped', reason: 'misfire' });
      expect(found?.ledger.map(({ kind }) => kind)).toEqual(['triggered', 'finished']);
      await setCursor(task, DUE);
      const twin = { ...event, id: eventFor(task).id };
      const again = await decide(DUE, () => ({
        ...skip(),
        skipped: [{ event: twin, report: skipReport(twin) }],
      }));
      expect(again.duplicates).toEqual([twin]);
      expect(await eventsOf(task.id)).toEqual([event]);
    });

    it('moves a thousand tasks in a number of statements that does not grow', async () => {
      const now = DUE + 5000;
      for (let i = 0; i < 1000; i++) await insert({ nextTriggerTime: DUE + i });
      let outcome: TriggerOutcome | null = null;
      const statements = await store.statementsOf(async () => {
        outcome = await decide(now);
      });
      expect(statements.length).toBeLessThanOrEqual(5);
      expect(outcome!.recorded).toHaveLength(1000);
      const stored = await eventsOf();
      expect(new Set(stored.map(({ taskId }) => taskId)).size).toBe(1000);
      expect((await decide(now)).dueCount).toBe(0);
      expect(await store.triggers.nextDueAt()).toBe(DUE + HOUR_MS);
    });

    it('records each slot once when twenty callers race, and leaves none out', async () => {
      const tasks = [];
      for (let i = 0; i < 60; i++) tasks.push(await insert());
      let open = () => {};
      const gate = new Promise<void>((resolve) => (open = resolve));
      const racers = Array.from({ length: 20 }, async (_, i) => {
        await gate;
        return decide(DUE, undefined, { limit: i % 2 === 0 ? 1000 : 7 });
      });
      open();
      const outcomes = await Promise.all(racers);
      outcomes.push(await decide(DUE));
      expect(outcomes.flatMap((outcome) => outcome.duplicates)).toEqual([]);
      const recorded = outcomes.flatMap((outcome) => outcome.recorded);
      expect(recorded.map(({ task }) => task.id).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
      expect(await eventsOf()).toHaveLength(60);
    });
  });
}
