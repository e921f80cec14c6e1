import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Status } from '../../src/domain/execution.js';
import { BASE, buildReport, buildTask } from '../support/builders.js';
import { uuidAt } from '../support/runs.js';
import { auditOf, type Store, type StoreFactory } from '../support/store.js';

const DAY = 86_400_000;
const request = { since: BASE, sample: 20 };

/** What every DurationRepo does. */
export function durationRepoSuite(name: string, open: StoreFactory): void {
  describe(`${name} as DurationRepo`, () => {
    let store: Store;
    let runs: number;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(async () => {
      await store.clear();
      runs = 0;
      for (const id of ['a', 'b']) await store.tasks.insert(buildTask({ id }), auditOf(id));
    });
    afterAll(() => store.close());

    /** Runs of one task, in this order, a second apart, that took so long each. */
    const record = async (
      taskId: string,
      durations: readonly (number | null)[],
      { status = 'success', at = BASE }: { readonly status?: Status; readonly at?: number } = {},
    ) => {
      const reports = durations.map((duration, i) => {
        const startedAt = at + i * 1000;
        return buildReport({
          executionId: uuidAt(startedAt, (runs += 1)),
          taskId,
          status,
          startedAt: duration === null ? null : startedAt,
          finishedAt: duration === null && status === 'running' ? null : startedAt + (duration ?? 0),
        });
      });
      await store.executions.apply(reports);
    };
    const p95 = async (ids: readonly string[], changed: Partial<typeof request> = {}) =>
      Object.fromEntries(await store.durations.p95(ids, { ...request, ...changed }));
    const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

    it('is the nearest rank: never between two durations, never more than all', async () => {
      expect(await p95(['a'])).toEqual({});
      await record('a', [700]);
      expect(await p95(['a'])).toEqual({ a: 700 });
      for (const [n, expected] of [
        [19, 19],
        [20, 19],
        [21, 20],
        [40, 38],
        [41, 39],
        [100, 95],
      ] as const) {
        await store.clear();
        await store.tasks.insert(buildTask({ id: 'a' }), auditOf('a'));
        await record('a', upTo(n).toReversed());
        expect(await p95(['a'], { sample: 100 })).toEqual({ a: expected });
      }
    });

    it('tells the asked tasks apart, and leaves out those that are not there', async () => {
      await record('a', [10, 20]);
      await record('b', [3]);
      await record('deleted', [5]);
      expect(await p95(['a', 'b', 'deleted', 'nobody'])).toEqual({ a: 20, b: 3 });
      expect(await p95(['b'])).toEqual({ b: 3 });
      expect(await p95([])).toEqual({});
    });

    it('takes only the latest runs, and none from before', async () => {
      await record('a', [9000], { at: BASE - 1 });
      expect(await p95(['a'])).toEqual({});
      expect(await p95(['a'], { since: BASE - DAY })).toEqual({ a: 9000 });
      await record('a', [8000, 7000, 1, 2, 3]);
      expect(await p95(['a'], { sample: 3 })).toEqual({ a: 3 });
      expect(await p95(['a'], { sample: 4 })).toEqual({ a: 7000 });
    });

    it('counts every run that ended, whatever came of it, and nothing else', async () => {
      await record('a', [1]);
      await record('a', [200], { status: 'fail' });
      await record('a', [300], { status: 'timeout' });
      await record('b', [null], { status: 'skipped' });
      await record('b', [50], { status: 'skipped' });
      await record('b', [null], { status: 'fail' });
      await record('b', [null], { status: 'running' });
      expect(await p95(['a', 'b'])).toEqual({ a: 300 });
      await record('b', [40, 30], { status: 'timeout', at: BASE + DAY });
      expect(await p95(['a', 'b'])).toEqual({ a: 300, b: 40 });
    });

    it('takes hundreds of tasks', async () => {
      const ids = upTo(400).map((n) => `t${n}`);
      for (const id of ids) await store.tasks.insert(buildTask({ id }), auditOf(id));
      await store.executions.apply(
        ids.map((taskId, i) =>
          buildReport({
            executionId: uuidAt(BASE, i),
            taskId,
            status: 'success',
            startedAt: BASE,
            finishedAt: BASE + i,
          }),
        ),
      );
      expect(await p95(ids)).toEqual(Object.fromEntries(ids.map((id, i) => [id, i])));
    });
  });
}
