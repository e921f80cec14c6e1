import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { triggerWindow, type TriggerEvent } from '../../src/domain/trigger.js';
import { BASE, buildEvent, buildTask } from '../support/builders.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

/** The part of TriggerRepo that people use: runs by hand. */
export function manualRunSuite(name: string, open: StoreFactory): void {
  describe(`TriggerRepo by hand: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(async () => {
      await store.clear();
      for (const id of ['task', 'other']) await store.tasks.insert(buildTask({ id }), auditOf(id));
    });
    afterAll(() => store.close());

    const eventAt = (slot: number, overrides: Partial<TriggerEvent> = {}) =>
      buildEvent({ taskId: 'task', kind: 'manual', slot, firedAt: slot, ...overrides });
    const run = (event: TriggerEvent, runKey: string | null = null) =>
      store.triggers.recordManual(event, runKey, auditOf(event.taskId, 'task.run'));
    const eventsOf = async (taskId: string) =>
      (await store.executions.list({ taskId }, { size: 100, cursor: null, offset: 0 })).items.map(
        ({ event }) => event,
      );
    const runAudits = async () =>
      (await store.audit.list({ limit: 100 })).filter(({ action }) => action === 'task.run').length;

    it('records the event with its params and its audit entry', async () => {
      const event = eventAt(BASE + 123, { params: { reason: "it's ?" } });
      expect(await run(event)).toEqual({ event, isNew: true });
      expect(await eventsOf('task')).toEqual([event]);
      expect(await runAudits()).toBe(1);
    });

    it('refuses a task that is not there', async () => {
      await expect(run(eventAt(BASE, { taskId: 'missing' }), 'key')).rejects.toMatchObject({
        code: 'not_found',
      });
      for (const taskId of ['Task', 'task ', 'täsk']) {
        await expect(run(eventAt(BASE, { taskId }))).rejects.toMatchObject({ code: 'not_found' });
      }
      expect(await runAudits()).toBe(0);
    });

    it('answers the same key with the first event', async () => {
      const first = await run(eventAt(BASE, { params: [1] }), 'key');
      expect(await run(eventAt(BASE + 5000), 'key')).toEqual({ event: first.event, isNew: false });
      expect(await eventsOf('task')).toHaveLength(1);
      expect(await runAudits()).toBe(1);
    });

    it('tells keys apart to the last blank, and by task', async () => {
      const keys = ['key', 'KEY', 'key ', 'kéy', '鍵', '', 'k'.repeat(1000), 'k'.repeat(1001)];
      for (const [i, key] of keys.entries()) {
        expect((await run(eventAt(BASE + i), key)).isNew).toBe(true);
        expect((await run(eventAt(BASE + i, { taskId: 'other' }), key)).isNew).toBe(true);
        expect((await run(eventAt(BASE + 9000 + i), key)).isNew).toBe(false);
      }
      expect(await eventsOf('task')).toHaveLength(keys.length);
    });

    it('makes one event of twenty concurrent callers with one key', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => run(eventAt(BASE), 'key')));
      expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(new Set(answers.map(({ event }) => event.id)).size).toBe(1);
      expect(await eventsOf('task')).toEqual([answers[0]?.event]);
      expect(await runAudits()).toBe(1);
    });

    it('gives a taken slot the next free millisecond, and its window with it', async () => {
      for (const slot of [BASE, BASE + 1, BASE + 3]) await run(eventAt(slot));
      await run(eventAt(BASE + 2, { taskId: 'other' }));
      const { event } = await run(eventAt(BASE));
      const window = triggerWindow(BASE + 2, 5);
      expect(event).toMatchObject({ slot: BASE + 2, windowStart: window.start, windowEnd: window.end });
      expect((await run(eventAt(BASE))).event.slot).toBe(BASE + 4);
      expect(await eventsOf('task')).toHaveLength(5);
      expect((await eventsOf('task')).find(({ id }) => id === event.id)).toEqual(event);
    });

    it('gives twenty concurrent callers in one millisecond a slot each', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => run(eventAt(BASE))));
      const slots = answers.map(({ event }) => event.slot);
      expect(slots.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => BASE + i));
      expect(await runAudits()).toBe(20);
    });

    it.each(['run_request', 'trigger_event', 'audit_log'])(
      'leaves nothing behind, the key included, when the statement on %s fails',
      async (table) => {
        store.failNext(new RegExp(`INSERT INTO ${table}`));
        await expect(run(eventAt(BASE), 'key')).rejects.toThrow('failed on purpose');
        expect(await eventsOf('task')).toEqual([]);
        expect((await run(eventAt(BASE), 'key')).isNew).toBe(true);
      },
    );
  });
}
