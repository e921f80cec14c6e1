import { inject } from 'vitest';
import { type MysqlOptions, openMysql } from '../../src/adapters/mysql/open-mysql.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { killConnections } from './kill-connections.js';
import { createMysqlDatabase, type MysqlDatabase } from './mysql.js';
import { sqlStore } from './sql-store.js';
import { SettableClock, type Store } from './store.js';

/** ax on a database by its URL, which may lead through a proxy. */
export const connectMysql = (url: string, options: Partial<MysqlOptions> = {}): SqlDb =>
  openMysql(url, { poolSize: 20, clock: new SettableClock(), random: { next: Math.random }, ...options });

/** A migrated database of its own with its repositories; `close` drops it. */
export async function openMysqlStore(): Promise<
  Store & { readonly database: MysqlDatabase; readonly db: SqlDb }
> {
  const serverUrl = inject('mysqlUrl');
  const database = await createMysqlDatabase(serverUrl);
  const clock = new SettableClock();
  const db = connectMysql(database.url, { clock });
  await migrate(db);
  const store = sqlStore(db, clock, {
    loseCommit: () => killConnections(serverUrl, database.name),
    close: () => database.drop(),
  });
  return { ...store, database, db };
}
