import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { assertMysqlFit } from '../../src/adapters/mysql/assert-mysql-fit.js';
import { migrate, pendingMigrations } from '../../src/adapters/sql/migrate.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { createMysqlDatabase, type MysqlDatabase } from '../support/mysql.js';
import { connectMysql } from '../support/mysql-store.js';

describe('MySQL schema', () => {
  let database: MysqlDatabase;
  let db: SqlDb;
  beforeEach(async () => {
    database = await createMysqlDatabase(inject('mysqlUrl'));
    db = connectMysql(database.url, { poolSize: 2 });
  });
  afterEach(async () => {
    await db.close();
    await database.drop();
  });

  const tables = async () =>
    (await database.query('SHOW TABLES')).map((row) => String(Object.values(row)[0])).toSorted();

  it('is made once by any number of nodes that migrate at the same time', async () => {
    const nodes = Array.from({ length: 3 }, () => connectMysql(database.url, { poolSize: 1 }));
    const all = await pendingMigrations(db);
    const taken = await Promise.all(nodes.map((node) => migrate(node)));
    expect(all).toContain('0002_cron_rules');
    expect(taken.flat()).toEqual(all);
    expect(await tables()).toEqual([
      'api_token',
      'audit_log',
      'ax_migration',
      'ax_migration_lock',
      'ax_state',
      'calendar',
      'calendar_version',
      'execution_event',
      'execution_log',
      'hook_delivery',
      'run_request',
      'task_meta',
      'trigger_event',
    ]);
    expect(await migrate(db)).toEqual([]);
    await Promise.all(nodes.map((node) => node.close()));
  });

  it('is completed after a migration that died halfway, lock in hand', async () => {
    await migrate(db);
    await database.query('DROP TABLE ax_state');
    await database.query('DROP TABLE trigger_event');
    await database.query('DELETE FROM ax_migration');
    await database.query('UPDATE ax_migration_lock SET is_locked = 1');
    const all = await pendingMigrations(db);
    expect(all).toContain('0001_first_tables');
    expect(await migrate(db)).toEqual(all);
    expect(await tables()).toContain('ax_state');
    expect(await pendingMigrations(db)).toEqual([]);
  });

  it('leaves a newer schema alone', async () => {
    await migrate(db);
    await database.query("INSERT INTO ax_migration (name, batch) VALUES ('9999_future', 2)");
    expect(await migrate(db)).toEqual([]);
    await assertMysqlFit(db);
  });

  it('has its own character set, whatever the database has', async () => {
    await migrate(db);
    const rows = await database.query(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = ? AND table_collation <> 'utf8mb4_bin' AND table_name NOT LIKE 'ax\\_migration%'`,
      [database.name],
    );
    expect(rows).toEqual([]);
  });

  it('is demanded at the start, with the command that makes it', async () => {
    const refusal = { code: 'refused_start', message: expect.stringContaining('ax migrate') as string };
    await expect(assertMysqlFit(db)).rejects.toMatchObject(refusal);
    await migrate(db);
    await assertMysqlFit(db);
    await database.query('DELETE FROM ax_migration');
    await expect(assertMysqlFit(db)).rejects.toMatchObject(refusal);
  });

  it('needs a database and an account that are there', async () => {
    const [wrongName, wrongPassword] = [new URL(database.url), new URL(database.url)];
    wrongName.pathname = '/no_such_database';
    wrongPassword.password = 'wrong';
    for (const { href } of [wrongName, wrongPassword]) {
      const stranger = connectMysql(href);
      await expect(assertMysqlFit(stranger)).rejects.toMatchObject({
        code: 'refused_start',
        message: expect.stringContaining('AX_MYSQL_URL') as string,
      });
      await stranger.close();
    }
    const nobody = connectMysql('mysql://ax@127.0.0.1:1/ax');
    await expect(assertMysqlFit(nobody)).rejects.toMatchObject({ code: 'unavailable' });
    await nobody.close();
  });
});
