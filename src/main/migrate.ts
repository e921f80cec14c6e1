import { openMysql } from '../adapters/mysql/open-mysql.js';
import { migrate as migrateSql } from '../adapters/sql/migrate.js';
import { SystemClock } from '../adapters/system/system-clock.js';
import { SystemRandom } from '../adapters/system/system-random.js';

/** Brings the schema up to this version and prints the steps taken. @throws AxError `unavailable`. */
export async function migrate(mysqlUrl: string): Promise<void> {
  const db = openMysql(mysqlUrl, { poolSize: 2, clock: new SystemClock(), random: new SystemRandom() });
  try {
    const steps = await migrateSql(db);
    process.stdout.write(
      steps.length === 0 ? 'the schema is up to date\n' : `migrated: ${steps.join(', ')}\n`,
    );
  } finally {
    await db.close();
  }
}
