import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { isBroken, type Task } from '../../src/domain/task.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { startAnswerEater } from '../support/answer-eater.js';
import { BASE, buildTask } from '../support/builders.js';
import { fireAll, HOUR_MS } from '../support/deciding.js';
import { killConnections } from '../support/kill-connections.js';
import { connectMysql, openMysqlStore } from '../support/mysql-store.js';
import { auditOf } from '../support/store.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const DUE = BASE + HOUR_MS;

describe('MySQL outages', () => {
  let store: Awaited<ReturnType<typeof openMysqlStore>>;
  beforeAll(async () => {
    store = await openMysqlStore();
  });
  beforeEach(() => store.clear());
  afterAll(() => store.close());

  const insert = async () => {
    const task = buildTask();
    await store.tasks.insert(task, auditOf(task.id));
    return task;
  };
  const decideWith = (db: SqlDb) =>
    new SqlTriggerRepo(db).decideDue({ now: DUE, limit: 1000, mayCommit: () => true }, (due) => fireAll(due));

  it('says unavailable when the answer to a commit is lost; what was committed is whole and happens once', async () => {
    const task = await insert();
    const proxy = await startAnswerEater(store.database.url);
    const db = connectMysql(proxy.url);
    proxy.eatAnswerTo('COMMIT;');
    await expect(decideWith(db)).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    await db.close();
    await proxy.close();
    expect(await store.database.query('SELECT task_id FROM trigger_event')).toEqual([{ task_id: task.id }]);
    expect(((await store.tasks.find(task.id)) as Task).nextTriggerTime).toBe(DUE + HOUR_MS);
    expect((await decideWith(store.db)).dueCount).toBe(0);
  });

  it('changes nothing when the connection is killed in the middle of a change, and works again at once', async () => {
    const task = await insert();
    const rename = (name: string, before: () => void) =>
      store.tasks.update(task.id, null, (current) => {
        before();
        if (isBroken(current)) throw new Error(current.error);
        return { task: { ...current, name }, audit: auditOf(task.id) };
      });
    const killed = rename('lost', () => killConnections(inject('mysqlUrl'), store.database.name));
    await expect(killed).rejects.toMatchObject({ code: 'unavailable' });
    expect(await store.tasks.find(task.id)).toEqual(task);
    expect((await rename('kept', () => undefined)).name).toBe('kept');
  });

  it('says unavailable when nobody listens, and works when somebody does', async () => {
    const proxy = await TcpProxy.start(store.database.url);
    const db = connectMysql(proxy.through(store.database.url));
    const tasks = new SqlTaskRepo(db);
    proxy.cut();
    await expect(tasks.find('x')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(decideWith(db)).rejects.toMatchObject({ code: 'unavailable' });
    proxy.restore();
    expect(await tasks.find('x')).toBeNull();
    proxy.cut();
    await expect(tasks.find('x')).rejects.toMatchObject({ code: 'unavailable' });
    proxy.restore();
    expect(await tasks.find('x')).toBeNull();
    await db.close();
    await proxy.close();
  });

  it('gives up a server that has gone silent', async () => {
    const proxy = await TcpProxy.start(store.database.url);
    const db = connectMysql(proxy.through(store.database.url), { maxSilenceMs: 400 });
    const tasks = new SqlTaskRepo(db);
    expect(await tasks.find('x')).toBeNull();
    proxy.stall();
    await expect(tasks.find('x')).rejects.toMatchObject({ code: 'unavailable' });
    proxy.restore();
    expect(await tasks.find('x')).toBeNull();
    await db.close();
    await proxy.close();
  });

  it('passes over a task that another transaction holds, and takes it when that one has ended', async () => {
    const [held, free] = [await insert(), await insert()];
    await store.db.transaction(async (sql) => {
      await sql.rows('SELECT id FROM task_meta WHERE id = ? FOR UPDATE', [held.id]);
      const meanwhile = await decideWith(store.db);
      expect(meanwhile.recorded.map(({ task }) => task.id)).toEqual([free.id]);
      expect(meanwhile.dueCount).toBe(1);
    });
    expect((await decideWith(store.db)).recorded.map(({ task }) => task.id)).toEqual([held.id]);
  });

  it('repeats a transaction that lost a deadlock', async () => {
    const [a, b] = [await insert(), await insert()];
    let met = 0;
    let open = () => {};
    const bothHoldOne = new Promise<void>((resolve) => (open = resolve));
    let runs = 0;
    const touch = (first: Task, second: Task) =>
      store.db.transaction(async (sql) => {
        runs += 1;
        await sql.run('UPDATE task_meta SET owner = ? WHERE id = ?', [first.id, first.id]);
        met += 1;
        if (met >= 2) open();
        await bothHoldOne;
        await sql.run('UPDATE task_meta SET owner = ? WHERE id = ?', [first.id, second.id]);
      });
    await Promise.all([touch(a, b), touch(b, a)]);
    expect(runs).toBeGreaterThan(2);
    const owners = await Promise.all(
      [a, b].map(async ({ id }) => ((await store.tasks.find(id)) as Task).owner),
    );
    expect(owners[0]).toBe(owners[1]);
  });
});
