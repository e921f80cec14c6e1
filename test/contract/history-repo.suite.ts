import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_CRON } from '../../src/domain/cron.js';
import { type Task } from '../../src/domain/task.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { type AuditEntry } from '../../src/ports/audit.js';
import { BASE, buildEvent, buildReport, buildTask } from '../support/builders.js';
import { eventFor, skipReport } from '../support/deciding.js';
import { type Store, type StoreFactory } from '../support/store.js';

export function historyRepoSuite(name: string, open: StoreFactory): void {
  describe(`HistoryRepo: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const entry = (
      action: string,
      at: number,
      before: unknown,
      after: unknown,
      subject = 'task',
    ): AuditEntry => ({
      at,
      actor: 'tester',
      action,
      subject,
      before,
      after,
    });
    const task = (overrides: Partial<Task> = {}) =>
      buildTask({ id: 'task', nextTriggerTime: BASE, ...overrides });
    const stateOf = ({
      schedule,
      former,
      policy,
      isEnabled,
      nextTriggerTime,
      version,
      createdAt,
      updatedAt,
    }: Task) => ({
      schedule,
      former,
      policy,
      isEnabled,
      nextTriggerTime,
      version,
      createdAt,
      updatedAt,
    });
    /** Records events of one task as if the tick had decided them. */
    const record = async (events: readonly TriggerEvent[], skipped: readonly TriggerEvent[] = []) => {
      const owner = task({ id: events[0]?.taskId ?? skipped[0]?.taskId ?? 'task' });
      await store.tasks.insert(owner, entry('task.create', BASE, null, owner, owner.id));
      await store.triggers.decideDue({ now: BASE + 1, limit: 10, mayCommit: () => true }, () => ({
        fired: events.map((event) => ({ event, task: owner })),
        skipped: skipped.map((event) => ({ event, report: skipReport(event) })),
        advances: [{ taskId: owner.id, nextSlot: null, holdUntil: null }],
        errors: [],
      }));
    };
    const page = (overrides: Partial<Parameters<Store['history']['events']>[0]> = {}) =>
      store.history.events({
        taskId: 'task',
        kind: 'schedule',
        from: BASE,
        to: BASE + 1_000_000,
        after: null,
        limit: 100,
        ...overrides,
      });

    describe('task ids', () => {
      const all = async () => {
        const ids: string[] = [];
        for (
          let id = await store.history.nextTaskId('');
          id !== null;
          id = await store.history.nextTaskId(id)
        )
          ids.push(id);
        return ids;
      };

      it('are those of tasks, of audited changes and of events, each once and in order', async () => {
        const [a, B] = [task({ id: 'a' }), task({ id: 'B' })];
        for (const one of [a, B])
          await store.tasks.insert(one, entry('task.create', BASE, null, one, one.id));
        await store.audit.append(entry('task.delete', BASE, a, null, 'gone'));
        await record([buildEvent({ taskId: 'fired' })]);
        await store.tasks.delete('fired', null, () => entry('task.delete', BASE, null, null, 'fired'));
        expect(await all()).toEqual(['B', 'a', 'fired', 'gone']);
      });

      it('are no other subjects of the log', async () => {
        await store.audit.append(entry('token.create', BASE, null, null, 'admin'));
        await store.audit.append(entry('token.create', BASE, null, null, 'kö'));
        await store.audit.append(entry('task.create', BASE, null, task(), 'z'));
        expect(await all()).toEqual(['z']);
      });

      it('may be none', async () => {
        expect(await all()).toEqual([]);
      });
    });

    describe('the history of a task', () => {
      it('is what it was before and after each change, and what it is now', async () => {
        const first = task({ nextTriggerTime: BASE + 5 });
        await store.tasks.insert(first, entry('task.create', BASE + 10, null, first));
        const second = task({ version: 2, isEnabled: false, nextTriggerTime: null, updatedAt: BASE + 20 });
        await store.tasks.update('task', null, (before) => ({
          task: second,
          audit: entry('task.toggle', BASE + 20, before, second),
        }));
        await store.audit.append(entry('task.run', BASE + 30, null, { execution_id: 'x', params: null }));
        expect(await store.history.taskHistory('task', BASE, 100)).toEqual({
          current: stateOf(second),
          changes: [
            { at: BASE + 10, before: 'absent', after: stateOf(first) },
            { at: BASE + 20, before: stateOf(first), after: stateOf(second) },
          ],
        });
      });

      it('ends with its deletion', async () => {
        await store.tasks.insert(task(), entry('task.create', BASE, null, task()));
        await store.tasks.delete('task', null, (before) => entry('task.delete', BASE + 1, before, null));
        const { current, changes } = await store.history.taskHistory('task', BASE, 100);
        expect([current, changes.at(-1)?.after]).toEqual(['absent', 'absent']);
        expect(await store.history.taskHistory('nobody', BASE, 100)).toEqual({
          current: 'absent',
          changes: [],
        });
      });

      it('begins with the last change before the time asked for, and has no more than the latest', async () => {
        for (let n = 1; n <= 120; n++)
          await store.audit.append(entry('task.update', BASE + n, null, task({ version: n })));
        const times = async (from: number, limit: number) =>
          (await store.history.taskHistory('task', from, limit)).changes.map(({ at }) => at - BASE);
        expect(await times(BASE + 119, 100)).toEqual([118, 119, 120]);
        expect(await times(BASE + 30, 1000)).toEqual(Array.from({ length: 92 }, (_, i) => 29 + i));
        expect(await times(BASE, 1000)).toHaveLength(120);
        expect(await times(BASE, 2)).toEqual([119, 120]);
      });

      it('says what cannot be read', async () => {
        await store.tasks.insert(task(), entry('task.create', BASE, null, null));
        await store.spoil('task', 'cron_expr', 'never');
        const schedule = {
          type: 'cron',
          expr: '99 * * * *',
          timezone: 'UTC',
          ...DEFAULT_CRON,
          startAt: null,
          endAt: null,
        };
        const odd = [
          { id: 'task', error: 'broken' },
          'text',
          { ...task(), schedule },
          { ...task(), nextTriggerTime: '?' },
        ];
        for (const value of odd) await store.audit.append(entry('task.update', BASE, value, value));
        const { current, changes } = await store.history.taskHistory('task', BASE, 100);
        expect(current).toBe('unreadable');
        expect(changes[0]).toEqual({ at: BASE, before: 'absent', after: 'unreadable' });
        expect(changes.slice(1)).toEqual(
          odd.map(() => ({ at: BASE, before: 'unreadable', after: 'unreadable' })),
        );
      });

      it('knows a task of an ax whose tasks had fewer members', async () => {
        const policy = { ...task().policy, windowSec: undefined };
        await store.audit.append(entry('task.create', BASE, null, { ...task(), former: undefined, policy }));
        const { changes } = await store.history.taskHistory('task', BASE, 100);
        expect(changes[0]?.after).toEqual(stateOf(task()));
      });
    });

    describe('events', () => {
      const eventAt = (slot: number, overrides: Partial<TriggerEvent> = {}) =>
        buildEvent({ taskId: 'task', slot: BASE + slot, ...overrides });

      it('come in the order of slots, page by page, with both ends of the range', async () => {
        const events = [0, 1, 5, 9, 10, 11].map((slot) => eventAt(slot));
        await record(events.toReversed());
        const range = { from: BASE + 1, to: BASE + 10 };
        const first = await page({ ...range, limit: 3 });
        expect(first.map(({ slot }) => slot - BASE)).toEqual([1, 5, 9]);
        const rest = await page({ ...range, limit: 3, after: first.at(-1) ?? null });
        expect(rest.map(({ id }) => id)).toEqual([events[4]?.id]);
        expect(await page({ ...range, taskId: 'other' })).toEqual([]);
      });

      it('are of one kind', async () => {
        await record([eventAt(1)]);
        const manual = eventAt(2, { kind: 'manual' });
        await store.triggers.recordManual(manual, null, entry('task.run', BASE, null, null));
        expect((await page()).map(({ kind }) => kind)).toEqual(['schedule']);
        expect((await page({ kind: 'manual' })).map(({ id }) => id)).toEqual([manual.id]);
      });

      it('tell what was recorded of them', async () => {
        const [event, range] = [eventAt(500), eventAt(0, { isMisfire: true, rangeEnd: BASE + 400 })];
        await record([event], [range]);
        const report = (overrides: Parameters<typeof buildReport>[0]) =>
          buildReport({ executionId: event.id, taskId: 'task', startedAt: BASE + 600, ...overrides });
        const at = (
          kind: 'claimed' | 'retry_planned' | 'finished',
          ms: number,
          detail: Record<string, unknown>,
        ) => ({
          kind,
          at: BASE + ms,
          node: 'worker-1',
          detail,
        });
        await store.executions.apply([
          report({ seq: 0, entry: at('claimed', 600, { worker: 'worker-1' }) }),
          report({ seq: 1, entry: at('retry_planned', 700, { attempt: 2 }) }),
          report({
            seq: 2,
            status: 'fail',
            attempt: 2,
            finishedAt: BASE + 800,
            entry: at('finished', 800, { attempt: 2 }),
          }),
        ]);
        const [skipped, run] = await page();
        expect(skipped).toMatchObject({
          isMisfire: true,
          rangeEnd: BASE + 400,
          status: 'skipped',
          startedAt: null,
        });
        expect(run).toEqual({
          id: event.id,
          taskId: 'task',
          kind: 'schedule',
          slot: event.slot,
          windowStart: event.windowStart,
          windowEnd: event.windowEnd,
          firedAt: event.firedAt,
          isMisfire: false,
          rangeEnd: null,
          status: 'fail',
          reason: null,
          attempt: 2,
          startedAt: BASE + 600,
          steps: [
            { kind: 'claimed', generation: 1, node: 'worker-1', at: BASE + 600, attempt: null },
            { kind: 'finished', generation: 1, node: 'worker-1', at: BASE + 800, attempt: 2 },
          ],
        });
      });

      it('are pending while nothing is known of them', async () => {
        await record([eventFor(task())]);
        expect(await page()).toMatchObject([{ status: 'pending', attempt: 0, startedAt: null, steps: [] }]);
      });

      it('have a last one before a slot', async () => {
        const events = [eventAt(10), eventAt(20, { rangeEnd: BASE + 90 })];
        await record(events);
        const before = async (slot: number) => (await store.history.eventBefore('task', BASE + slot))?.id;
        expect([await before(50), await before(20), await before(10)]).toEqual([
          events[1]?.id,
          events[0]?.id,
          undefined,
        ]);
      });
    });
  });
}
