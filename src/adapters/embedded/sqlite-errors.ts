import { type DriverFailure } from '../sql/dialect.js';

/** By result code or its prefix: https://www.sqlite.org/rescode.html */
const KINDS: readonly (readonly [RegExp, DriverFailure['kind']])[] = [
  [/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/, 'duplicate'],
  [/^SQLITE_(BUSY|LOCKED)/, 'contention'],
  [/^SQLITE_(IOERR|FULL|CANTOPEN|READONLY|CORRUPT|NOTADB|PROTOCOL|PERM|AUTH|NOMEM)/, 'unavailable'],
  [/^SQLITE_(TOOBIG|CONSTRAINT_NOTNULL|MISMATCH)/, 'refused_value'],
];

/** What an error of better-sqlite3 or of knex's pool means; null for any other. */
export function sqliteFailure(error: unknown): DriverFailure | null {
  if (!(error instanceof Error)) return null;
  const { code, name } = error as Error & { code?: string };
  const message = error.message.slice(error.message.lastIndexOf(' - ') + 1).replace(/^- /, '');
  const kind = KINDS.find(([pattern]) => pattern.test(code ?? ''))?.[1];
  if (kind !== undefined) return { kind, message };
  const isPool = name === 'KnexTimeoutError' || /^(aborted|Unable to acquire a connection)$/.test(message);
  return isPool ? { kind: 'unavailable', message } : null;
}
