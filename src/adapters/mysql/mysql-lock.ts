import { type Knex } from 'knex';
import { AxError } from '../../domain/errors.js';

const WAIT_SEC = 10;
const MAX_WAITS = 30;

/** A lock by name ends with its connection, so a migration that died leaves none behind. One per database: names are the server's. */
const LOCK_NAME = "LEFT(CONCAT('ax_migrate:', DATABASE()), 64)";

/** Runs `work` while this process alone holds the database's migration lock; needs one connection of the pool besides the work's. */
export async function withMysqlLock<T>(knex: Knex, work: () => Promise<T>): Promise<T> {
  const client = knex.client as {
    acquireConnection(): Promise<unknown>;
    releaseConnection(c: unknown): Promise<void>;
  };
  const connection = await client.acquireConnection();
  const ask = async (sql: string): Promise<unknown> => {
    const response = (await knex.raw(`SELECT ${sql} AS answer`).connection(connection)) as [
      { answer: unknown }[],
    ];
    return response[0][0]?.answer;
  };
  try {
    for (let waits = 1; (await ask(`GET_LOCK(${LOCK_NAME}, ${WAIT_SEC})`)) !== 1; waits++) {
      if (waits >= MAX_WAITS)
        throw new AxError('unavailable', 'another migration of this database does not end');
    }
    try {
      return await work();
    } finally {
      await ask(`RELEASE_LOCK(${LOCK_NAME})`);
    }
  } finally {
    await client.releaseConnection(connection);
  }
}
