import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ExecutorSpec } from '../../src/domain/executor-spec.js';
import { type Task } from '../../src/domain/task.js';
import { buildTask } from '../support/builders.js';
import { SHELL_SPEC } from '../support/pools.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

/** The part of TaskRepo that says what the tasks need of the workers. */
export function taskDemandSuite(name: string, open: StoreFactory): void {
  describe(`TaskRepo and demand: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const insert = async (count: number, overrides: Partial<Task>) => {
      for (let i = 0; i < count; i++) await store.tasks.insert(buildTask(overrides), auditOf('any'));
    };
    const executor: ExecutorSpec = SHELL_SPEC;

    it('counts enabled tasks by pool and type of executor, the greatest demand first', async () => {
      expect(await store.tasks.demand(10)).toEqual([]);
      await insert(2, {});
      await insert(3, { pool: 'batch', executor });
      await insert(1, { pool: 'batch' });
      await insert(4, { pool: 'idle', isEnabled: false, nextTriggerTime: null });
      const demand = [
        { pool: 'batch', executor: 'shell', tasks: 3 },
        { pool: 'default', executor: 'http', tasks: 2 },
        { pool: 'batch', executor: 'http', tasks: 1 },
      ];
      expect(await store.tasks.demand(10)).toEqual(demand);
      expect(await store.tasks.demand(2)).toEqual(demand.slice(0, 2));
    });

    it('follows every change of a task', async () => {
      const task = buildTask();
      await store.tasks.insert(task, auditOf(task.id));
      const change = async (changed: Partial<Task>) => {
        await store.tasks.update(task.id, null, (current) => ({
          task: { ...(current as Task), ...changed },
          audit: auditOf(task.id),
        }));
        return store.tasks.demand(10);
      };
      expect(await change({ executor })).toEqual([{ pool: 'default', executor: 'shell', tasks: 1 }]);
      expect(await change({ pool: 'b' })).toEqual([{ pool: 'b', executor: 'shell', tasks: 1 }]);
      expect(await change({ isEnabled: false })).toEqual([]);
      expect(await change({ isEnabled: true })).toHaveLength(1);
      await store.tasks.delete(task.id, null, () => auditOf(task.id));
      expect(await store.tasks.demand(10)).toEqual([]);
    });
  });
}
