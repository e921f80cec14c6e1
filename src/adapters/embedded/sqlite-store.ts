import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Database } from 'better-sqlite3';
import knex, { type Knex } from 'knex';
import { AxError, messageOf } from '../../domain/errors.js';
import { type Clock } from '../../ports/clock.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Random } from '../../ports/random.js';
import { migrate } from '../sql/migrate.js';
import { silentLog } from '../sql/silent-log.js';
import { SqlDb } from '../sql/sql-db.js';
import { sqliteDialect } from './sqlite-dialect.js';
import { lockDirectory } from './sqlite-lock.js';

/** A store in one file, used by one process at a time. */
export interface SqliteStore {
  readonly db: SqlDb;
  /**
   * The epoch for the queue in this process: that of the last run if it ended cleanly, so with nothing queued or claimed, else a new
   * one.
   */
  readonly queueEpoch: string;
  /** Ends the use of the directory; `clean` says that the queue is empty and keeps its epoch for the next run. */
  close(how: { readonly clean: boolean }): Promise<void>;
}

/** Waits for other programs that write to the file; short, since the whole process waits, and transactions are repeated anyway. */
const BUSY_MS = 100;

/** An acknowledged trigger survives the loss of power: `synchronous` is FULL, in WAL one sync per transaction. */
const PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL', `busy_timeout = ${BUSY_MS}`];

/**
 * Opens `ax.db` in the directory, which is made if missing, with the current schema.
 * @throws AxError `refused_start` when another ax uses the directory or it cannot be written.
 */
export async function openSqlite(
  dataDir: string,
  ports: { readonly clock: Clock; readonly random: Random; readonly metrics?: Metrics },
): Promise<SqliteStore> {
  const unlock = takeDirectory(dataDir);
  const { clock, random, metrics } = ports;
  const db = new SqlDb(openKnex(join(dataDir, 'ax.db')), sqliteDialect, clock, random, metrics);
  try {
    await migrate(db);
    const queueEpoch = await startEpoch(db.knex);
    return {
      db,
      queueEpoch,
      close: async ({ clean }) => {
        if (clean) await setState(db.knex, 'clean_epoch', queueEpoch);
        await db.close();
        unlock();
      },
    };
  } catch (error) {
    await db.close();
    unlock();
    throw error;
  }
}

function takeDirectory(dataDir: string): () => void {
  try {
    mkdirSync(dataDir, { recursive: true });
    return lockDirectory(dataDir, join(dataDir, 'ax.lock'));
  } catch (error) {
    if (error instanceof AxError) throw error;
    const fix = 'let ax write there, or set AX_DATA_DIR to another directory';
    throw new AxError(
      'refused_start',
      `the data directory ${dataDir} is not usable (${messageOf(error)}): ${fix}`,
    );
  }
}

function openKnex(filename: string): Knex {
  return knex({
    client: 'better-sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    compileSqlOnError: false,
    log: silentLog,
    pool: {
      min: 1,
      max: 1,
      // After a failed commit the transaction may be open still; its connection goes, and the transaction with it.
      validate: (connection: Database) => !connection.inTransaction,
      afterCreate: (connection: Database, done: (error: unknown) => void) => {
        for (const pragma of PRAGMAS) connection.pragma(pragma);
        // SQLite's own lowers ASCII only.
        connection.function('lower', { deterministic: true }, (text: unknown) =>
          typeof text === 'string' ? text.toLowerCase() : text,
        );
        done(null);
      },
    },
  });
}

/** The stored epoch is there only between a clean end and the next start. */
async function startEpoch(knex: Knex): Promise<string> {
  const clean = await knex<{ name: string; value: string }>('ax_state')
    .where({ name: 'clean_epoch' })
    .first();
  await knex('ax_state').where({ name: 'clean_epoch' }).delete();
  return clean?.value ?? randomUUID();
}

async function setState(knex: Knex, name: string, value: string): Promise<void> {
  await knex('ax_state').insert({ name, value }).onConflict('name').merge();
}
