import { type Socket } from 'node:net';
import knex from 'knex';
import { type Connection } from 'mysql2';
import { type Clock } from '../../ports/clock.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Random } from '../../ports/random.js';
import { silentLog } from '../sql/silent-log.js';
import { SqlDb } from '../sql/sql-db.js';
import { mysqlDialect } from './mysql-dialect.js';

export interface MysqlOptions {
  readonly poolSize: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: Metrics;
  /** A server that says nothing for so long while asked is given up, and so is an idle connection; default 30 s. */
  readonly maxSilenceMs?: number;
}

const CONNECT_TIMEOUT_MS = 5000;
const ACQUIRE_TIMEOUT_MS = 10_000;

/** The driver escapes with backslashes and ax writes UTC: neither may depend on how the server is set up. */
const SESSION = [
  `SET time_zone = '+00:00', innodb_lock_wait_timeout = 5, sql_mode =
   'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
];

/** A store on MySQL or MariaDB. Connects when first used; see assertMysqlFit for what the server must be. */
export function openMysql(url: string, options: MysqlOptions): SqlDb {
  const { poolSize, clock, random, metrics, maxSilenceMs = 30_000 } = options;
  const client = knex({
    client: 'mysql2',
    connection: {
      uri: url,
      charset: 'utf8mb4',
      connectTimeout: CONNECT_TIMEOUT_MS,
      dateStrings: true,
    },
    // A migration needs a connection besides the one that holds its lock.
    pool: {
      min: 0,
      max: Math.max(2, poolSize),
      afterCreate: (connection: Connection, done: (error: unknown) => void) => {
        setUpSession(connection, maxSilenceMs).then(() => done(null), done);
      },
    },
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    compileSqlOnError: false,
    log: silentLog,
  });
  return new SqlDb(client, mysqlDialect, clock, random, metrics);
}

async function setUpSession(connection: Connection, maxSilenceMs: number): Promise<void> {
  const { stream } = connection as unknown as { stream: Socket };
  stream.setTimeout(maxSilenceMs, () => stream.destroy(new Error(`no answer for ${maxSilenceMs} ms`)));
  for (const statement of SESSION) await connection.promise().query(statement);
}
