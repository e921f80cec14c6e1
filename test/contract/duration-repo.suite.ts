import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Status } from '../../src/domain/execution.js';
import { type RunTiming } from '../../src/domain/run-stats.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { BASE, buildEvent, buildReport, buildTask } from '../support/builders.js';
import { recordEvents, runOf, uuidAt } from '../support/runs.js';
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

    describe('timings', () => {
      const range = { taskId: 'a', from: BASE, to: BASE + DAY, afterId: null, limit: 100 };
      const event = (firedAt: number, overrides: Partial<TriggerEvent> = {}) =>
        buildEvent({ id: uuidAt(firedAt + 1), taskId: 'a', slot: firedAt - 12, firedAt, ...overrides });

      it('tell when an execution was due, decided and run, and what became of it', async () => {
        const ran = event(BASE);
        const skipped = event(BASE + 1000);
        const silent = event(BASE + 2000);
        const byHand = event(BASE + 3000, { kind: 'manual', windowStart: BASE + 2999 });
        await recordEvents(store, [byHand, silent, skipped, ran]);
        const times = { startedAt: null, finishedAt: skipped.firedAt };
        await store.executions.apply([
          ...runOf(ran),
          buildReport({
            executionId: skipped.id,
            taskId: 'a',
            status: 'skipped',
            reason: 'overlap',
            ...times,
          }),
          buildReport({ executionId: byHand.id, taskId: 'a', startedAt: BASE + 3040 }),
        ]);
        const none = { reason: null, startedAt: null, finishedAt: null };
        const of = ({ id, kind, windowStart, firedAt }: TriggerEvent) => ({ id, kind, windowStart, firedAt });
        expect(await store.durations.timings(range)).toEqual([
          { ...of(ran), status: 'success', reason: null, startedAt: BASE + 5, finishedAt: BASE + 2004 },
          { ...of(skipped), ...none, status: 'skipped', reason: 'overlap', finishedAt: skipped.firedAt },
          { ...of(silent), ...none, status: 'pending' },
          { ...of(byHand), ...none, status: 'running', startedAt: BASE + 3040 },
        ]);
      });

      it('come in pages, in the order of ids, of one task, without what was triggered outside the range', async () => {
        const instants = [5, 3, 0, 4, 2].map((n) => BASE + n * 1000);
        const other = event(BASE + 1000, { id: uuidAt(BASE + 1000, 7), taskId: 'b' });
        await recordEvents(store, [...instants, BASE - 1, BASE + DAY].map((at) => event(at)).concat(other));
        await store.executions.apply([
          buildReport({ executionId: uuidAt(BASE + 1), taskId: 'a', status: 'timeout' }),
          buildReport({ executionId: other.id, taskId: 'b', status: 'fail' }),
        ]);
        const seen: RunTiming[] = [];
        while (seen.length < 5) {
          const page = await store.durations.timings({
            ...range,
            afterId: seen.at(-1)?.id ?? null,
            limit: 2,
          });
          expect([1, 2]).toContain(page.length);
          seen.push(...page);
        }
        expect(seen.map(({ firedAt }) => firedAt)).toEqual(instants.toSorted((a, b) => a - b));
        expect(seen.map(({ status }) => status)).toEqual([
          'timeout',
          ...Array.from({ length: 4 }, () => 'pending'),
        ]);
        expect(await store.durations.timings({ ...range, afterId: seen.at(-1)?.id ?? null })).toEqual([]);
      });
    });
  });
}
