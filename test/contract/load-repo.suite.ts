import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Status } from '../../src/domain/execution.js';
import { BASE, buildReport, buildTask } from '../support/builders.js';
import { SHELL_SPEC } from '../support/pools.js';
import { uuidAt } from '../support/runs.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

/** What every LoadRepo does. */
export function loadRepoSuite(name: string, open: StoreFactory): void {
  describe(`${name} as LoadRepo`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const insert = async (overrides: Parameters<typeof buildTask>[0]) =>
      store.tasks.insert(buildTask(overrides), auditOf('any'));
    /** A run that came to be `at` and ended some ms later. */
    const end = async (taskId: string, status: Status, at: number, ms: number) => {
      const executionId = uuidAt(at, 1);
      await store.executions.apply([
        buildReport({ executionId, taskId, status, startedAt: at, finishedAt: at + ms }),
      ]);
    };

    it('counts tasks by state and knows the oldest undecided slot of the enabled ones', async () => {
      expect(await store.loads.load()).toEqual({ enabled: 0, disabled: 0, oldestSlot: null });
      await insert({ isEnabled: false, nextTriggerTime: BASE - 5000 });
      await insert({ nextTriggerTime: null });
      expect(await store.loads.load()).toEqual({ enabled: 1, disabled: 1, oldestSlot: null });
      await insert({ nextTriggerTime: BASE + 1234 });
      await insert({ nextTriggerTime: BASE + 9000 });
      expect(await store.loads.load()).toEqual({ enabled: 3, disabled: 1, oldestSlot: BASE + 1234 });
    });

    it('says of each enabled task when it succeeded and failed last', async () => {
      await insert({ id: 'b', group: 'night', nextTriggerTime: BASE + 60_000, updatedAt: BASE - 7 });
      await insert({ id: 'a', nextTriggerTime: null });
      await insert({ id: 'off', isEnabled: false });
      const fresh = { lastSuccessAt: null, lastFailureAt: null };
      const a = { id: 'a', group: 'default', updatedAt: buildTask().updatedAt, nextTriggerTime: null };
      const b = { id: 'b', group: 'night', updatedAt: BASE - 7, nextTriggerTime: BASE + 60_000 };
      expect(await store.loads.standings(10)).toEqual([
        { ...a, ...fresh },
        { ...b, ...fresh },
      ]);
      await end('b', 'success', BASE, 500);
      await end('b', 'success', BASE + 1000, 250);
      await end('b', 'fail', BASE + 2000, 10);
      await end('b', 'skipped', BASE + 4000, 0);
      await end('off', 'success', BASE, 1);
      const failed = { ...b, lastSuccessAt: BASE + 1250, lastFailureAt: BASE + 2010 };
      expect(await store.loads.standings(10)).toEqual([{ ...a, ...fresh }, failed]);
      await end('b', 'timeout', BASE + 3000, 20);
      expect((await store.loads.standings(10))[1]?.lastFailureAt).toBe(BASE + 3020);
      await end('b', 'fail', BASE + 5000, 30);
      expect((await store.loads.standings(10))[1]?.lastFailureAt).toBe(BASE + 5030);
      await insert({ id: '0', pool: 'zoo' });
      await insert({ id: '1', executor: SHELL_SPEC });
      const ids = async (limit: number) => (await store.loads.standings(limit)).map(({ id }) => id);
      expect(await ids(10)).toEqual(['a', 'b', '1', '0']);
      expect(await ids(1)).toEqual(['a']);
    });
  });
}
