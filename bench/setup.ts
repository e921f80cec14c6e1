import { randomBytes } from 'node:crypto';
import mysql from 'mysql2/promise';
import { openMysql } from '../src/adapters/mysql/open-mysql.js';
import { RedisConnection } from '../src/adapters/redis/redis-connection.js';
import { migrate } from '../src/adapters/sql/migrate.js';
import { type SqlDb } from '../src/adapters/sql/sql-db.js';
import { SystemClock } from '../src/adapters/system/system-clock.js';
import { SystemRandom } from '../src/adapters/system/system-random.js';
import { type Logger } from '../src/ports/logger.js';
import { type Metrics } from '../src/ports/metrics.js';

export const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Stores of their own for one benchmark. */
export interface Stores {
  readonly db: SqlDb;
  readonly redis: RedisConnection;
  /** A plain connection to the same database, for the raw loop. */
  readonly raw: mysql.Connection;
  close(): Promise<void>;
}

export interface StoreUrls {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
}

/** `metrics` measures the stores' own operations. */
export async function openStores({ mysqlUrl, redisUrl }: StoreUrls, metrics?: Metrics): Promise<Stores> {
  const name = `ax_bench_${randomBytes(6).toString('hex')}`;
  const url = new URL(mysqlUrl);
  const admin = await mysql.createConnection(url.href);
  await admin.query(`CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  const measured = metrics === undefined ? {} : { metrics };
  const tools = { clock: new SystemClock(), random: new SystemRandom() };
  const db = openMysql(url.href, { poolSize: 4, ...tools, ...measured });
  await migrate(db);
  const redis = new RedisConnection({
    url: redisUrl,
    namespace: name,
    logger: SILENT,
    ...measured,
  });
  const raw = await mysql.createConnection({ uri: url.href, timezone: 'Z' });
  await raw.query(`SET time_zone = '+00:00'`);
  await raw.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  return {
    db,
    redis,
    raw,
    close: async () => {
      await redis.run(async (client) => {
        const keys = await client.keys(`ax:{${name}}:*`);
        for (let at = 0; at < keys.length; at += 1000) await client.unlink(keys.slice(at, at + 1000));
      });
      await raw.end();
      await db.close();
      await redis.close();
      await admin.query(`DROP DATABASE ${name}`);
      await admin.end();
    },
  };
}
