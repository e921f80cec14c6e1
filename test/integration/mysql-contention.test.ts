import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { type TriggerOutcome } from '../../src/ports/trigger-repo.js';
import { BASE, buildEvent, buildTask } from '../support/builders.js';
import { fireAll, HOUR_MS } from '../support/deciding.js';
import { connectMysql, openMysqlStore } from '../support/mysql-store.js';
import { auditOf } from '../support/store.js';

const DUE = BASE + HOUR_MS;

describe('MySQL under many nodes', () => {
  let store: Awaited<ReturnType<typeof openMysqlStore>>;
  const pools: SqlDb[] = [];
  beforeAll(async () => {
    store = await openMysqlStore();
  });
  beforeEach(() => store.clear());
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await store.close();
  });

  function nodes(count: number): SqlDb[] {
    const opened = Array.from({ length: count }, () => connectMysql(store.database.url, { poolSize: 2 }));
    pools.push(...opened);
    return opened;
  }

  async function insert(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, i) => `task-${String(i).padStart(4, '0')}`);
    for (const id of ids) await store.tasks.insert(buildTask({ id }), auditOf(id));
    return ids;
  }

  const decide = (db: SqlDb, limit: number): Promise<TriggerOutcome> =>
    new SqlTriggerRepo(db).decideDue({ now: DUE, limit, mayCommit: () => true }, (due) => fireAll(due));

  /** Decides until nothing is due any more, also nothing that another node holds at the moment. */
  async function drain(db: SqlDb, limit: number): Promise<string[]> {
    const taken: string[] = [];
    while ((await new SqlTriggerRepo(db).countDue(DUE)) > 0) {
      const outcome = await decide(db, limit);
      expect(outcome.duplicates).toEqual([]);
      taken.push(...outcome.recorded.map(({ task }) => task.id));
    }
    return taken;
  }

  const eventsOf = async (kind: string) => {
    const sql = 'SELECT task_id FROM trigger_event WHERE kind = ? ORDER BY task_id';
    return (await store.database.query(sql, [kind])).map((row) => String(row['task_id']));
  };

  it('ten that trigger and run 200 tasks at the same minute lose, double and refuse nothing (SO-27)', async () => {
    const ids = await insert(200);
    const runOnce = async (db: SqlDb) => {
      for (const taskId of ids.slice(0, 40)) {
        const event = buildEvent({ taskId, kind: 'manual', slot: DUE });
        await new SqlTriggerRepo(db).recordManual(event, 'the same key', auditOf(taskId));
      }
    };
    const taken = await Promise.all(
      nodes(10).map(async (db) => (await Promise.all([drain(db, 1000), runOnce(db)]))[0]),
    );
    expect(taken.flat().toSorted()).toEqual(ids);
    expect(await eventsOf('schedule')).toEqual(ids);
    expect(await eventsOf('manual')).toEqual(ids.slice(0, 40));
  }, 60_000);

  it('four that take ten at a time while what was taken is deleted take each of 1000 once (SO-28)', async () => {
    const ids = await insert(1000);
    const takeAndDelete = async (db: SqlDb): Promise<string[]> => {
      const tasks = new SqlTaskRepo(db);
      const taken: string[] = [];
      while ((await new SqlTriggerRepo(db).countDue(DUE)) > 0) {
        const batch = (await decide(db, 10)).recorded.map(({ task }) => task.id);
        taken.push(...batch);
        await Promise.all(batch.map((id) => tasks.delete(id, null, () => auditOf(id))));
      }
      return taken;
    };
    const taken = await Promise.all(nodes(4).map(takeAndDelete));
    expect(taken.flat().toSorted()).toEqual(ids);
    expect(taken.every((one) => one.length > 0)).toBe(true);
    expect(await eventsOf('schedule')).toEqual(ids);
    expect(await store.database.query('SELECT id FROM task_meta')).toEqual([]);
  }, 60_000);
});
