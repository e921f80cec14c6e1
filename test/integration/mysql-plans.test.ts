import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { taskRow } from '../../src/adapters/sql/task-row.js';
import { type Task } from '../../src/domain/task.js';
import { BASE, buildEvent, buildTask } from '../support/builders.js';
import { fireAll, HOUR_MS } from '../support/deciding.js';
import { openMysqlStore } from '../support/mysql-store.js';
import { recordEvents, runOf, uuidAt } from '../support/runs.js';

const DUE = BASE + HOUR_MS;
const BULK = 20_000;

/** What matters at scale: how many rows the server touches, not how long it takes. */
describe('MySQL plans', () => {
  let store: Awaited<ReturnType<typeof openMysqlStore>>;

  const insertTasks = async (count: number, overrides: Partial<Task>) => {
    const rows = Array.from({ length: count }, () => taskRow(buildTask(overrides), store.db.dialect));
    for (let i = 0; i < rows.length; i += 1000)
      await store.db.knex('task_meta').insert(rows.slice(i, i + 1000));
  };
  const rowsRead = async () => {
    const counters = await store.db.read((sql) =>
      sql.rows<{ Value: string }>("SHOW SESSION STATUS LIKE 'Handler_read%'"),
    );
    return counters.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  /** Calls in a row share one connection, and so its counters. */
  const readsOf = async (work: () => Promise<unknown>) => {
    const before = await rowsRead();
    await work();
    return (await rowsRead()) - before;
  };

  beforeAll(async () => {
    store = await openMysqlStore();
    await insertTasks(BULK, { isEnabled: false, nextTriggerTime: null });
    await insertTasks(BULK / 2, { isEnabled: false, nextTriggerTime: DUE });
    await insertTasks(BULK / 2, { nextTriggerTime: DUE + HOUR_MS });
    for (let batch = 0; batch < BULK / 1000; batch++) {
      const at = BASE + batch * 10_000;
      const events = Array.from({ length: 1000 }, (_, i) =>
        buildEvent({ id: uuidAt(at + i), firedAt: at + i, taskId: i === 0 ? 'rare' : 'busy' }),
      );
      await recordEvents(store, events);
      await store.executions.apply(events.slice(batch === 0 ? 5 : 0).map((event) => runOf(event).at(-1)!));
    }
    await store.executions.adoptPending(BASE + HOUR_MS);
  }, 240_000);
  afterAll(() => store.close());

  it('reads due tasks only, however many are disabled or not due', async () => {
    await insertTasks(50, { nextTriggerTime: DUE });
    const reads = await readsOf(async () => {
      const outcome = await store.triggers.decideDue(
        { now: DUE, limit: 1000, mayCommit: () => true },
        (due) => fireAll(due),
      );
      expect(outcome.recorded).toHaveLength(50);
    });
    expect(reads).toBeLessThan(500);
  });

  it('knows the next due instant and the backlog from a few index entries', async () => {
    expect(await readsOf(() => store.triggers.nextDueAt())).toBeLessThan(200);
    expect(await readsOf(() => store.triggers.countDue(DUE))).toBeLessThan(200);
  });

  it('says how tasks stand from a few index entries of each, however many are disabled', async () => {
    await insertTasks(1, { id: 'busy', pool: 'a' });
    const reads = await readsOf(async () => {
      const [busy] = await store.loads.standings(50);
      expect(busy).toMatchObject({ id: 'busy', lastSuccessAt: expect.any(Number) as number });
    });
    await store.db.knex('task_meta').where({ id: 'busy' }).delete();
    expect(reads).toBeLessThan(500);
  });

  it('pages through executions without reading what is not shown', async () => {
    const page = { size: 20, cursor: null, offset: 0 };
    for (const filter of [
      {},
      { taskId: 'rare' },
      { taskId: 'busy' },
      { status: 'success' },
      { status: 'fail' },
      { status: 'pending' },
      { taskId: 'rare', status: 'success' },
      { taskId: 'rare', status: 'fail' },
    ] as const) {
      for (const cursor of [null, uuidAt(BASE + 100_000)]) {
        const reads = await readsOf(() => store.executions.list(filter, { ...page, cursor }));
        expect({ filter, cursor, isCheap: reads < 500, reads }).toMatchObject({ isCheap: true });
      }
    }
  });

  it('finds what has not ended without reading what has', async () => {
    const request = { updatedBefore: BASE + 2 * HOUR_MS, afterId: null, limit: 500 };
    const reads = await readsOf(async () => {
      expect(await store.executions.unsettled(request)).toHaveLength(5);
    });
    expect(reads).toBeLessThan(500);
    const after = { ...request, afterId: uuidAt(BASE + 3) };
    expect(await store.executions.unsettled(after)).toHaveLength(1);
  });

  it('adopts without reading again what was adopted', async () => {
    expect(await readsOf(() => store.executions.adoptPending(BASE + HOUR_MS + 1))).toBeLessThan(500);
  });

  it('sums up the executions of a task from indexes alone', async () => {
    const asked: { readonly sql: string; readonly bindings: readonly string[] }[] = [];
    const keep = (query: (typeof asked)[number]) => void asked.push(query);
    store.db.knex.on('query', keep);
    const page = { taskId: 'busy', from: BASE, to: BASE + HOUR_MS, afterId: null, limit: 1000 };
    expect(await readsOf(() => store.durations.timings(page))).toBeLessThan(3000);
    store.db.knex.off('query', keep);
    const reads = asked.filter(({ sql }) => /FROM (trigger_event|execution_log)/.test(sql));
    expect(reads).toHaveLength(2);
    for (const { sql, bindings } of reads) {
      const plan = await store.db.read((s) => s.rows<{ Extra: string }>(`EXPLAIN ${sql}`, bindings));
      expect(plan.map(({ Extra }) => Extra)).toEqual([expect.stringContaining('Using index')]);
    }
  });

  it('finds how a watched task ended last without reading its history', async () => {
    const check = { type: 'task_succeeded', taskId: 'busy', withinSec: 60 } as const;
    const pre = { check, onFail: 'skip', retryCount: 0, retryIntervalSec: 1 } as const;
    // Definitions are read once in each life of the queue.
    const definitions = await readsOf(() => store.hooks.watchedOutcomes());
    await insertTasks(1, { id: 'busy', nextTriggerTime: DUE + HOUR_MS });
    await insertTasks(1, { id: 'watcher', nextTriggerTime: DUE + HOUR_MS, hooks: { pre, post: null } });
    const reads = await readsOf(async () => {
      expect(await store.hooks.watchedOutcomes()).toMatchObject([{ taskId: 'busy' }]);
    });
    expect(reads - definitions).toBeLessThan(200);
  });
});
