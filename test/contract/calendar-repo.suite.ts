import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Calendar } from '../../src/domain/calendar.js';
import { CalendarDays } from '../../src/domain/calendar-days.js';
import { CalendarUse } from '../../src/domain/calendar-use.js';
import { type Schedule } from '../../src/domain/schedule.js';
import { replanTask, type Task } from '../../src/domain/task.js';
import { ManageCalendars } from '../../src/application/calendars/manage-calendars.js';
import { type CalendarChange } from '../../src/ports/calendar-repo.js';
import { BASE, buildTask } from '../support/builders.js';
import { buildCalendar, definitionOf, listed } from '../support/calendars.js';
import { fireAll } from '../support/deciding.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const PAGE = { size: 100, cursor: null, offset: 0 };
const HOUR = 3_600_000;
const ACTOR = { name: 'tester', traceparent: null };

export function calendarRepoSuite(name: string, open: StoreFactory): void {
  describe(`CalendarRepo: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const insert = (overrides: Partial<Calendar> = {}): Promise<Calendar> => {
      const definition = definitionOf(buildCalendar(overrides));
      return store.calendars.insert(definition, (calendar) => auditOf(calendar.name, 'calendar.create'));
    };
    const hourly = (calendar: Calendar, rule: 'workdays' | 'skip_holidays' = 'workdays'): Schedule => ({
      ...(buildTask().schedule as Extract<Schedule, { type: 'cron' }>),
      calendar: new CalendarUse(new CalendarDays(calendar), rule, 'none'),
    });
    const insertTask = async (calendar: Calendar, overrides: Partial<Task> = {}): Promise<Task> => {
      const task = buildTask({ schedule: hourly(calendar), ...overrides });
      await store.tasks.insert(task, auditOf(task.id, 'task.create'));
      return task;
    };
    const codeOf = (error: unknown) => (error as { readonly code?: unknown }).code;
    const refusal = (work: Promise<unknown>) => work.then(() => 'was taken', codeOf);
    const wakeup = { notify: async () => undefined, subscribe: () => () => undefined };
    const replace = (overrides: Partial<Calendar>, expectedVersion: number | null = null) => {
      const definition = definitionOf(buildCalendar(overrides));
      const manage = new ManageCalendars({ calendars: store.calendars, wakeup, clock: store.clock });
      return manage.replace(expectedVersion, definition, ACTOR);
    };

    it('keeps a calendar as it is', async () => {
      const full = buildCalendar({
        name: 'china',
        description: 'Festland, 国务院',
        weekend: [5, 6],
        holidays: [{ date: '2026-10-01', name: '国庆节' }],
        workdays: listed('2026-10-10'),
        excludedTimes: [{ from: '01:00:00', to: '24:00:00' }],
        knownUntil: '2026-12-31',
      });
      expect(await insert(full)).toEqual(full);
      expect(await store.calendars.find('china')).toEqual(full);
      expect(await store.calendars.find('China')).toBe(null);
      expect(await refusal(insert(full))).toBe('already_exists');
    });

    it('lists calendars by name, with the number of tasks that use them', async () => {
      const works = await insert();
      await insert({ name: 'a' });
      await insertTask(works);
      await insertTask(works, { isEnabled: false });
      const { items, nextCursor } = await store.calendars.list(PAGE);
      expect(items.map(({ calendar, tasks }) => [calendar.name, tasks])).toEqual([
        ['a', 0],
        ['works', 2],
      ]);
      expect(nextCursor).toBe(null);
      const first = await store.calendars.list({ ...PAGE, size: 1 });
      const second = await store.calendars.list({ ...PAGE, size: 1, cursor: first.nextCursor });
      expect([first, second].map((page) => page.items[0]?.calendar.name)).toEqual(['a', 'works']);
    });

    it('tells which ones run out, the first to do so first', async () => {
      await insert({ name: 'late', knownUntil: '2030-12-31' });
      await insert({ name: 'never' });
      const soon = await insert({ name: 'soon', knownUntil: '2026-12-31' });
      await insertTask(soon);
      expect(await store.calendars.ends(10)).toEqual([
        { name: 'soon', knownUntil: '2026-12-31', tasks: 1 },
        { name: 'late', knownUntil: '2030-12-31', tasks: 0 },
      ]);
      expect(await store.calendars.ends(1)).toHaveLength(1);
    });

    it('a task comes back with the days of its calendar', async () => {
      const task = await insertTask(await insert({ holidays: listed('2026-01-06') }));
      const read = (await store.tasks.find(task.id)) as Task;
      expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(task)));
      expect(read.schedule).toMatchObject({
        calendar: { days: { calendar: { holidays: listed('2026-01-06') } } },
      });
      const listedTasks = await store.tasks.list({}, PAGE);
      expect(listedTasks.items).toMatchObject([
        { schedule: { calendar: { rule: 'workdays', shift: 'none' } } },
      ]);
    });

    it('the tick reads it, too, and a skipped slot has its verdict', async () => {
      const task = await insertTask(await insert(), { nextTriggerTime: BASE });
      let read: unknown = null;
      await store.triggers.decideDue({ now: BASE, limit: 10, mayCommit: () => true }, (due) => {
        [read] = due;
        return fireAll(due);
      });
      expect(read).toMatchObject({
        id: task.id,
        schedule: { calendar: { days: { calendar: { name: 'works' } } } },
      });
    });

    it('an edit stores the next version and the tasks with it', async () => {
      const works = await insert();
      const due = await insertTask(works, { nextTriggerTime: BASE });
      const ahead = await insertTask(works, { nextTriggerTime: BASE + 5 * HOUR });
      const off = await insertTask(works, { isEnabled: false, nextTriggerTime: null });
      const other = buildTask();
      await store.tasks.insert(other, auditOf(other.id));
      store.clock.set(BASE + 10);
      expect(await replace({ weekend: [1] }, 1)).toEqual({ ...buildCalendar({ weekend: [1] }), version: 2 });
      expect(await store.calendars.find('works')).toMatchObject({ version: 2, weekend: [1] });
      const tasks = await Promise.all([due, ahead, off, other].map(({ id }) => store.tasks.find(id)));
      const plan = (tasks as Task[]).map(({ version, nextTriggerTime, former }) => [
        version,
        nextTriggerTime,
        former.length,
      ]);
      expect(plan).toEqual([
        [2, BASE, 1],
        [2, BASE + HOUR, 0],
        [2, null, 0],
        [1, other.nextTriggerTime, 0],
      ]);
      expect(tasks[0]).toMatchObject({
        schedule: { calendar: { days: { calendar: { version: 2 } } } },
        former: [{ until: BASE + 10, schedule: { calendar: { days: { calendar: { version: 1 } } } } }],
      });
      const audits = await Promise.all(
        ['works', due.id].map((subject) => store.audit.list({ subject, limit: 1 })),
      );
      expect(audits.flat()).toMatchObject([
        { action: 'calendar.update' },
        { action: 'task.update', actor: 'tester' },
      ]);
      store.clock.set(BASE);
    });

    it('the history of a task knows each version', async () => {
      const works = await insert({ holidays: listed('2026-01-07') });
      const task = buildTask({ schedule: hourly(works) });
      await store.tasks.insert(task, { ...auditOf(task.id, 'task.create'), after: task });
      await replace({ holidays: listed('2026-01-08') });
      const { current, changes } = await store.history.taskHistory(task.id, BASE - 1, 10);
      const holiday = (date: string) => ({
        schedule: { calendar: { days: { calendar: { holidays: listed(date) } } } },
      });
      expect(changes).toMatchObject([
        { after: holiday('2026-01-07') },
        { before: holiday('2026-01-07'), after: holiday('2026-01-08') },
      ]);
      expect(current).toMatchObject(holiday('2026-01-08'));
    });

    it('an edit that fails changes nothing', async () => {
      const works = await insert();
      const task = await insertTask(works);
      const next = (current: Calendar, users: readonly unknown[]): CalendarChange => ({
        calendar: { ...current, version: 2 },
        tasks: (users as Task[]).map((user) => replanTask(user, hourly({ ...current, version: 2 }), BASE)),
        audit: [auditOf('works')],
      });
      const throwing = () => {
        throw new Error('on purpose');
      };
      await expect(store.calendars.update('works', null, throwing)).rejects.toThrow('on purpose');
      store.failNext(/INSERT INTO audit_log/);
      await expect(store.calendars.update('works', null, next)).rejects.toThrow();
      expect(await store.calendars.find('works')).toMatchObject({ version: 1 });
      expect(await store.tasks.find(task.id)).toMatchObject({
        version: 1,
        schedule: { calendar: { days: { calendar: { version: 1 } } } },
      });
      expect(await refusal(store.calendars.update('works', 7, next))).toBe('version_conflict');
      expect(await refusal(store.calendars.update('none', null, next))).toBe('not_found');
    });

    it('a task cannot be stored with another version than the current one', async () => {
      const works = await insert();
      const task = await insertTask(works);
      await replace({});
      expect(await refusal(insertTask(works))).toBe('conflict');
      const stale = store.tasks.update(task.id, null, () => ({ task, audit: auditOf(task.id) }));
      expect(await refusal(stale)).toBe('conflict');
      expect(await refusal(insertTask(buildCalendar({ name: 'unknown' })))).toBe('conflict');
    });

    it('is deleted only when no task uses it, and its versions are never used again', async () => {
      const works = await insert();
      const task = await insertTask(works);
      const remove = (expected: number | null = null) =>
        store.calendars.delete('works', expected, () => auditOf('works', 'calendar.delete'));
      expect(await refusal(remove())).toBe('conflict');
      await store.tasks.delete(task.id, null, () => auditOf(task.id));
      expect(await refusal(remove(3))).toBe('version_conflict');
      await remove(1);
      expect(await store.calendars.find('works')).toBe(null);
      expect((await store.calendars.list(PAGE)).items).toEqual([]);
      expect(await refusal(remove())).toBe('not_found');
      expect(await insert({ weekend: [] })).toMatchObject({ version: 2 });
    });

    it('edits of a calendar and of its tasks at the same time leave no task with an old version', async () => {
      const works = await insert();
      const tasks = await Promise.all(Array.from({ length: 8 }, () => insertTask(works)));
      const rename = ({ id }: Task) =>
        store.tasks.update(id, null, (current) => ({
          task: { ...(current as Task), name: 'renamed', version: current.version + 1 },
          audit: auditOf(id),
        }));
      const late = Array.from({ length: 4 }, () =>
        insertTask(works).catch((error: unknown) => codeOf(error)),
      );
      await Promise.all([
        ...tasks.map(rename),
        replace({ weekend: [1] }),
        ...late,
        replace({ weekend: [2] }),
        ...tasks.map(rename),
      ]);
      const refused = (await Promise.all(late)).filter((answer) => typeof answer === 'string');
      expect(new Set(refused).size).toBeLessThanOrEqual(1);
      const { items } = await store.tasks.list({}, PAGE);
      expect(items).toHaveLength(12 - refused.length);
      for (const item of items)
        expect(item).toMatchObject({ schedule: { calendar: { days: { calendar: { version: 3 } } } } });
      for (const { id } of tasks)
        expect(await store.tasks.find(id)).toMatchObject({ name: 'renamed', version: 5 });
    });

    it('a thousand tasks are planned anew in a bounded number of statements', async () => {
      const works = await insert();
      for (let i = 0; i < 1000; i++)
        await insertTask(works, { id: `t${i}`, nextTriggerTime: BASE + (i % 2) * HOUR });
      const startedAt = performance.now();
      const statements = await store.statementsOf(() => replace({ weekend: [1, 2] }));
      const tookMs = performance.now() - startedAt;
      expect(tookMs).toBeLessThan(30_000);
      expect(statements.length).toBeLessThan(2100);
      const batched = statements.filter((sql) => /task_meta/i.test(sql));
      expect(batched.length).toBeLessThanOrEqual(10);
      const { items } = await store.tasks.list({}, { ...PAGE, size: 2000 });
      const versions = new Set(
        (items as Task[]).map(({ version: stored, former }) => `${stored} ${former.length}`),
      );
      expect([...versions].sort()).toEqual(['2 0', '2 1']);
      expect(items).toHaveLength(1000);
    }, 120_000);
  });
}
