import { randomBytes } from 'node:crypto';
import { createConnection, type RowDataPacket } from 'mysql2/promise';

/** A database of its own on the test server. */
export interface MysqlDatabase {
  readonly name: string;
  readonly url: string;
  /** Runs SQL beside the store's own connections. */
  query(sql: string, values?: unknown[]): Promise<RowDataPacket[]>;
  drop(): Promise<void>;
}

/** Makes a database whose defaults are not the ones that ax wants. `serverUrl` has no database in its path. */
export async function createMysqlDatabase(serverUrl: string): Promise<MysqlDatabase> {
  const name = `ax_test_${randomBytes(6).toString('hex')}`;
  const connection = await createConnection(serverUrl);
  await connection.query(`CREATE DATABASE ${name} CHARACTER SET latin1 COLLATE latin1_swedish_ci`);
  const url = new URL(`/${name}`, serverUrl).href;
  return {
    name,
    url,
    query: async (sql, values) => {
      const own = await createConnection(url);
      try {
        return (await own.query<RowDataPacket[]>(sql, values))[0];
      } finally {
        await own.end();
      }
    },
    drop: async () => {
      await connection.query(`DROP DATABASE ${name}`);
      await connection.end();
    },
  };
}
