import { AxError, messageOf } from '../../domain/errors.js';
import { pendingMigrations } from '../sql/migrate.js';
import { type SqlDb } from '../sql/sql-db.js';

/** First releases with both SKIP LOCKED and JSON_TABLE. */
const MIN_MYSQL = [8, 0, 4] as const;
const MIN_MARIADB = [10, 6, 0] as const;

/**
 * Refuses a server that ax cannot work with: too old, read only, or without ax's current tables.
 * @throws AxError `refused_start` that says what to do; `unavailable` when the server cannot be reached.
 */
export async function assertMysqlFit(db: SqlDb): Promise<void> {
  const server = await readServer(db);
  assertVersion(server.version);
  if (isReadOnly(server)) {
    throw refuse('the server is read only', 'connect to the primary, or set read_only = 0 there');
  }
  const missing = await pendingMigrations(db);
  if (missing.length > 0) {
    throw refuse(`the database lacks ${missing.join(', ')}`, 'run `ax migrate` with this version of ax');
  }
}

export interface ServerRow {
  readonly version: string;
  readonly is_read_only: unknown;
}

/** Newer MariaDB answers with a word. */
export const isReadOnly = (server: ServerRow): boolean => !/^(0|off)$/i.test(String(server.is_read_only));

const REFUSALS = [
  'ER_ACCESS_DENIED_ERROR',
  'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_BAD_DB_ERROR',
];

/** @throws AxError `refused_start` when it lets nobody in; `unavailable`. */
export async function readServer(db: SqlDb): Promise<ServerRow> {
  try {
    const rows = await db.read((sql) =>
      sql.rows<ServerRow>('SELECT VERSION() AS version, @@global.read_only AS is_read_only'),
    );
    return rows[0] ?? { version: '', is_read_only: null };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    if (code === undefined || !REFUSALS.includes(code)) throw error;
    const fix = 'create the database, and check the user, the password and the database name in AX_MYSQL_URL';
    throw refuse(messageOf(error), fix);
  }
}

/** `version` as VERSION() tells it. @throws AxError `refused_start`. */
export function assertVersion(version: string): void {
  const isMariaDb = /mariadb/i.test(version);
  // Old MariaDB hides behind the version of an old MySQL.
  const found =
    /^(\d+)\.(\d+)\.(\d+)/
      .exec(version.replace(/^5\.5\.5-/, ''))
      ?.slice(1)
      .map(Number) ?? [];
  const minimum = isMariaDb ? MIN_MARIADB : MIN_MYSQL;
  if (found.length === 3 && isAtLeast(found, minimum)) return;
  throw refuse(
    `the server's version is ${version || 'unknown'}`,
    `use MySQL ${MIN_MYSQL.join('.')} or later, or MariaDB ${MIN_MARIADB.slice(0, 2).join('.')} or later`,
  );
}

function isAtLeast(found: readonly number[], minimum: readonly number[]): boolean {
  const i = minimum.findIndex((part, place) => part !== found[place]);
  return i === -1 || (found[i] ?? 0) > (minimum[i] ?? 0);
}

const refuse = (problem: string, fix: string): AxError => new AxError('refused_start', `${problem}: ${fix}`);
