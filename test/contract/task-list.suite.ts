import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Task } from '../../src/domain/task.js';
import { type PageRequest } from '../../src/ports/task-repo.js';
import { buildTask } from '../support/builders.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const PAGE: PageRequest = { size: 100, cursor: null, offset: 0 };

/** The part of TaskRepo that finds: filters and pages. */
export function taskListSuite(name: string, open: StoreFactory): void {
  describe(`TaskRepo lists: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const insert = (id: string, overrides: Partial<Task> = {}) =>
      store.tasks.insert(buildTask({ id, ...overrides }), auditOf(id));
    const idsOf = async (filter: Parameters<Store['tasks']['list']>[0]) =>
      (await store.tasks.list(filter, PAGE)).items.map(({ id }) => id);

    it('filters by group, owner and enabled, exactly and together', async () => {
      await insert('a', { group: 'billing', owner: 'ann', isEnabled: true });
      await insert('b', { group: 'Billing', owner: 'ann', isEnabled: true });
      await insert('c', { group: 'billing', owner: null, isEnabled: false });
      await insert('d', { group: 'bílling', owner: 'Ann', isEnabled: false });
      expect(await idsOf({})).toEqual(['a', 'b', 'c', 'd']);
      expect(await idsOf({ group: 'billing' })).toEqual(['a', 'c']);
      expect(await idsOf({ owner: 'ann' })).toEqual(['a', 'b']);
      expect(await idsOf({ isEnabled: false })).toEqual(['c', 'd']);
      expect(await idsOf({ group: 'billing', owner: 'ann', isEnabled: true })).toEqual(['a']);
      expect(await idsOf({ group: '%' })).toEqual([]);
    });

    it('filters by a label with its value', async () => {
      await insert('a', { labels: { env: 'prod', 'app.kubernetes.io/name': 'x' } });
      await insert('b', { labels: { env: 'Prod' } });
      await insert('c', { labels: { env: '%"prod\'\\', app: 'env' } });
      expect(await idsOf({ label: { key: 'env', value: 'prod' } })).toEqual(['a']);
      expect(await idsOf({ label: { key: 'env', value: '%"prod\'\\' } })).toEqual(['c']);
      expect(await idsOf({ label: { key: 'app.kubernetes.io/name', value: 'x' } })).toEqual(['a']);
      for (const key of ['prod', 'en%', '*', '"env"', 'env"', "e'nv", '$.env', '']) {
        expect(await idsOf({ label: { key, value: 'prod' } })).toEqual([]);
      }
    });

    it('finds text in id or name in any case, taking every character for itself', async () => {
      await insert('sync-50%', { name: 'Sync orders' });
      await insert('sync-500', { name: 'Ärger_mit "Umlauten"' });
      await insert('other', { name: "It's 100 % done!" });
      await insert('x-y', { name: 'back\\slash' });
      expect(await idsOf({ text: 'SYNC' })).toEqual(['sync-50%', 'sync-500']);
      expect(await idsOf({ text: '0%' })).toEqual(['sync-50%']);
      expect(await idsOf({ text: 'r_m' })).toEqual(['sync-500']);
      expect(await idsOf({ text: 'ärger' })).toEqual(['sync-500']);
      expect(await idsOf({ text: 'arger' })).toEqual([]);
      expect(await idsOf({ text: '"uml' })).toEqual(['sync-500']);
      expect(await idsOf({ text: "it's" })).toEqual(['other']);
      expect(await idsOf({ text: 'done!' })).toEqual(['other']);
      expect(await idsOf({ text: 'k\\s' })).toEqual(['x-y']);
      expect(await idsOf({ text: 'Sync O' })).toEqual(['sync-50%']);
      expect(await idsOf({ text: '任務' })).toEqual([]);
      expect(await idsOf({ text: '' })).toHaveLength(4);
    });

    it('gives every task once on the pages, by cursor or by offset', async () => {
      const ids = Array.from({ length: 23 }, (_, i) => `t${String(i).padStart(2, '0')}`);
      for (const id of ids) await insert(id, { group: id < 't20' ? 'g' : 'h' });
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 25 }), fc.boolean(), async (size, byCursor) => {
          const seen: string[] = [];
          for (let cursor: string | null = null, more = true; more;) {
            const offset: number = byCursor ? 0 : seen.length;
            const page = await store.tasks.list(
              { group: 'g' },
              { size, cursor: byCursor ? cursor : null, offset },
            );
            expect(page.items.length).toBeLessThanOrEqual(size);
            seen.push(...page.items.map(({ id }) => id));
            cursor = page.nextCursor;
            more = cursor !== null;
          }
          expect(seen).toEqual(ids.slice(0, 20));
        }),
        { numRuns: 15 },
      );
      expect(await store.tasks.list({}, { size: 5, cursor: 'zzz', offset: 0 })).toEqual({
        items: [],
        nextCursor: null,
      });
      await expect(store.tasks.list({}, { size: 5, cursor: 'ä?', offset: 0 })).rejects.toMatchObject({
        code: 'invalid_input',
      });
    });
  });
}
