import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../adapters/embedded/sqlite-store.js';
import { assertMysqlFit } from '../adapters/mysql/assert-mysql-fit.js';
import { openMysql } from '../adapters/mysql/open-mysql.js';
import { type SqlDb } from '../adapters/sql/sql-db.js';
import { type SystemClock } from '../adapters/system/system-clock.js';
import { SystemRandom } from '../adapters/system/system-random.js';
import { AxError } from '../domain/errors.js';
import { type VerifiedStore } from './config.js';

/**
 * Opens the store of a cluster or of a stopped embedded ax for a command that only reads. `route`: what to ask while an embedded ax runs.
 * @throws AxError `refused_start`, `unavailable`.
 */
export async function openHistory(
  store: VerifiedStore,
  clock: SystemClock,
  route: string,
): Promise<{ db: SqlDb; close: () => Promise<void> }> {
  const random = new SystemRandom();
  if ('dataDir' in store) return openEmbedded(store.dataDir, { clock, random }, route);
  const db = openMysql(store.mysqlUrl, { poolSize: 2, clock, random });
  try {
    await assertMysqlFit(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return { db, close: () => db.close() };
}

async function openEmbedded(
  dataDir: string,
  ports: { readonly clock: SystemClock; readonly random: SystemRandom },
  route: string,
) {
  if (!existsSync(join(dataDir, 'ax.db'))) {
    const fix =
      'set AX_DATA_DIR to the directory of an embedded ax, or AX_MYSQL_URL to the database of a cluster';
    throw new AxError('refused_start', `there is no history in ${dataDir}: ${fix}`);
  }
  try {
    const sqlite = await openSqlite(dataDir, ports);
    // Nothing was queued meanwhile.
    return { db: sqlite.db, close: () => sqlite.close({ clean: true }) };
  } catch (error) {
    if (!(error instanceof AxError && error.code === 'refused_start')) throw error;
    throw new AxError('refused_start', `${error.message}; ask the running ax itself: ${route}`, {
      cause: error,
    });
  }
}
