import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Execution } from '../../src/domain/execution.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { type ExecutionFilter } from '../../src/ports/execution-repo.js';
import { BASE, buildEvent, buildTask } from '../support/builders.js';
import { recordEvents, runOf, uuidAt } from '../support/runs.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const MINUTE = 60_000;

/** The part of ExecutionRepo that looks over many: lists, and what has not ended. */
export function executionListSuite(name: string, open: StoreFactory): void {
  describe(`ExecutionRepo lists: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(async () => {
      await store.clear();
      store.clock.set(BASE);
    });
    afterAll(() => store.close());

    const eventAt = (epochMs: number, overrides: Partial<TriggerEvent> = {}) =>
      buildEvent({ id: uuidAt(epochMs), firedAt: epochMs, ...overrides });
    const record = async (...events: TriggerEvent[]) => {
      await recordEvents(store, events);
      return events;
    };
    const list = async (filter: ExecutionFilter) =>
      (await store.executions.list(filter, { size: 100, cursor: null, offset: 0 })).items.map(
        ({ event }) => event.id,
      );
    const pagesOf = async (filter: ExecutionFilter, size: number, byCursor: boolean) => {
      const items: Execution[] = [];
      for (let cursor: string | null = null, more = true; more;) {
        const page = await store.executions.list(filter, {
          size,
          cursor: byCursor ? cursor : null,
          offset: byCursor ? 0 : items.length,
        });
        items.push(...page.items);
        cursor = page.nextCursor;
        more = cursor !== null;
      }
      return items.map(({ event }) => event.id);
    };
    const unsettled = (overrides: { updatedBefore?: number; afterId?: string | null; limit?: number } = {}) =>
      store.executions.unsettled({ updatedBefore: BASE + MINUTE, afterId: null, limit: 100, ...overrides });

    it('lists newest first, by task and by status, and in pages that hold each once', async () => {
      const events = await record(
        ...Array.from({ length: 24 }, (_, i) =>
          eventAt(BASE + i * 1000, { taskId: i % 2 === 0 ? 'a' : 'b' }),
        ),
      );
      for (const [i, event] of events.entries()) {
        const run = runOf(event);
        await store.executions.apply(i % 3 === 0 ? run : i % 3 === 1 ? run.slice(0, 1) : []);
      }
      const ids = (keep: (i: number) => boolean) =>
        events
          .filter((_, i) => keep(i))
          .map(({ id }) => id)
          .toReversed();
      const cases: [ExecutionFilter, string[]][] = [
        [{}, ids(() => true)],
        [{ taskId: 'a' }, ids((i) => i % 2 === 0)],
        [{ status: 'success' }, ids((i) => i % 3 === 0)],
        [{ status: 'running' }, ids((i) => i % 3 === 1)],
        [{ status: 'pending' }, ids((i) => i % 3 === 2)],
        [{ taskId: 'b', status: 'success' }, ids((i) => i % 3 === 0 && i % 2 === 1)],
        [{ taskId: 'b', status: 'pending' }, ids((i) => i % 3 === 2 && i % 2 === 1)],
        [{ status: 'timeout' }, []],
        [{ taskId: 'A' }, []],
        [{ taskId: 'a ' }, []],
        [{ taskId: 'ä', status: 'pending' }, []],
      ];
      // Pending ones are found whether they were adopted or not.
      for (const recordedBefore of [BASE, BASE + 12_500, BASE + MINUTE * 20]) {
        await store.executions.adoptPending(recordedBefore);
        for (const [filter, expected] of cases) {
          expect(await list(filter)).toEqual(expected);
          expect(await pagesOf(filter, 5, true)).toEqual(expected);
          expect(await pagesOf(filter, 5, false)).toEqual(expected);
        }
      }
    });

    it('adopts every event recorded before an instant, once, and leaves states alone', async () => {
      const [old, done, young] = await record(eventAt(BASE - 1), eventAt(BASE - 2), eventAt(BASE + MINUTE));
      await store.executions.apply(runOf(done!));
      expect(await unsettled()).toEqual([]);
      expect(await store.executions.adoptPending(BASE)).toBe(1);
      expect(await store.executions.adoptPending(BASE)).toBe(0);
      const [found] = await unsettled();
      expect(found).toMatchObject({
        execution: { event: old, status: 'pending' },
        task: null,
        updatedAt: BASE,
      });
      expect((await store.executions.find(done!.id))?.execution.status).toBe('success');
      expect(await store.executions.adoptPending(BASE + MINUTE)).toBe(0);
      expect(await store.executions.adoptPending(BASE + MINUTE + 1)).toBe(1);
      expect((await unsettled()).map(({ execution }) => execution.event)).toEqual([old, young]);
    });

    it('adopts events that turn up behind those adopted before, by clocks up to five minutes apart', async () => {
      await record(eventAt(BASE));
      await store.executions.adoptPending(BASE + 1);
      const [late] = await record(eventAt(BASE - 4 * MINUTE));
      expect(await list({ status: 'pending' })).toHaveLength(2);
      await store.executions.adoptPending(BASE + 5 * MINUTE);
      expect((await unsettled()).map(({ execution }) => execution.event.id)).toContain(late!.id);
    });

    it('adopts more events than fit one chunk', async () => {
      for (let batch = 0; batch < 6; batch++) {
        const from = BASE + batch * 10_000;
        await record(...Array.from({ length: 1000 }, (_, i) => eventAt(from + i)));
      }
      expect(await store.executions.adoptPending(BASE + MINUTE)).toBe(6000);
      const page = await unsettled({ limit: 10_000 });
      expect(page).toHaveLength(6000);
    });

    it('lets any report overtake an adoption, and no adoption overtake a report', async () => {
      const [event] = await record(eventAt(BASE));
      await store.executions.adoptPending(BASE + 1);
      const first = { ...runOf(event!)[0]!, generation: 0, seq: 0 };
      await store.executions.apply([first]);
      expect((await store.executions.find(event!.id))?.execution).toMatchObject({ status: 'running' });
      await store.executions.adoptPending(BASE + 10 * MINUTE);
      expect((await store.executions.find(event!.id))?.execution).toMatchObject({ status: 'running' });
    });

    it('shows what has not ended, with its task as it is now, until a report is young', async () => {
      const tasks = ['here', 'broken', 'gone'].map((id) => buildTask({ id }));
      for (const task of tasks) await store.tasks.insert(task, auditOf(task.id));
      const events = await record(...tasks.map((task, i) => eventAt(BASE + i, { taskId: task.id })));
      await store.spoil('broken', 'timeout_sec', 0);
      await store.tasks.delete('gone', null, () => auditOf('gone'));
      await store.executions.apply(events.map((event) => runOf(event)[0]!));
      const found = await unsettled({ updatedBefore: BASE + 1 });
      expect(found.map(({ execution }) => execution.event)).toEqual(events);
      expect(found.map(({ execution }) => execution.status)).toEqual(['running', 'running', 'running']);
      expect(found.map(({ updatedAt }) => updatedAt)).toEqual([BASE, BASE, BASE]);
      expect(found[0]?.task).toEqual(tasks[0]);
      expect(found[1]?.task).toMatchObject({
        id: 'broken',
        error: expect.stringContaining('timeout_sec') as string,
      });
      expect(found[2]?.task).toBeNull();
      expect(await unsettled({ updatedBefore: BASE })).toEqual([]);
      store.clock.set(BASE + MINUTE);
      await store.executions.apply([runOf(events[0]!)[1]!]);
      await store.executions.apply([runOf(events[1]!).at(-1)!]);
      expect((await unsettled()).map(({ execution }) => execution.event.id)).toEqual([events[2]!.id]);
      const late = await unsettled({ updatedBefore: BASE + MINUTE + 1 });
      expect(late.map(({ execution }) => execution.status)).toEqual(['retrying', 'running']);
    });

    it('pages through what has not ended in order of id, past reports of unknown events', async () => {
      const events = await record(...Array.from({ length: 12 }, (_, i) => eventAt(BASE + i)));
      for (const [i, event] of events.entries())
        await store.executions.apply(runOf(event).slice(0, 1 + (i % 2)));
      const unknown = Array.from({ length: 7 }, (_, i) => runOf(eventAt(BASE - 1 - i))[0]!);
      await store.executions.apply(unknown);
      const seen: string[] = [];
      for (let page = await unsettled({ limit: 5 }); page.length > 0;) {
        expect(page.length).toBeLessThanOrEqual(5);
        seen.push(...page.map(({ execution }) => execution.event.id));
        page = await unsettled({ limit: 5, afterId: seen.at(-1)! });
      }
      expect(seen).toEqual(events.map(({ id }) => id));
    });
  });
}
