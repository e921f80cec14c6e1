import { type DriverFailure } from '../sql/dialect.js';

/**
 * Server errors by number: https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html and
 * https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference (those from 1900 on differ).
 */
const KINDS: readonly (readonly [DriverFailure['kind'], readonly number[]])[] = [
  ['duplicate', [1062, 1586]],
  // 1020: MariaDB with innodb_snapshot_isolation
  ['contention', [1020, 1205, 1213]],
  [
    'unavailable',
    [
      // disk or tables full, engine in trouble
      1021, 1030, 1114,
      // connections: too many, failed handshake, host blocked, access, network
      1040, 1042, 1043, 1044, 1045, 1049, 1129, 1130, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1698,
      // shutting down, killed, interrupted, timed out
      1053, 1077, 1078, 1079, 1080, 1317, 1927, 1969, 3024, 3169, 4031,
      // read only: a primary that has become a replica
      1290, 1792, 1836,
    ],
  ],
  ['refused_value', [1048, 1153, 1264, 1292, 1366, 1406, 1411, 3988]],
];
const KIND_OF = new Map(KINDS.flatMap(([kind, numbers]) => numbers.map((number) => [number, kind] as const)));

interface MysqlError extends Error {
  readonly errno?: number;
  readonly code?: string;
  readonly fatal?: boolean;
  readonly syscall?: string;
  readonly sqlMessage?: string;
}

/** What an error of mysql2, of the socket under it or of knex's pool means; null for any other. */
export function mysqlFailure(error: unknown): DriverFailure | null {
  if (!(error instanceof Error)) return null;
  const { errno, code, fatal, syscall, sqlMessage, name } = error as MysqlError;
  const message = sqlMessage ?? lastPart(error.message);
  const kind = KIND_OF.get(errno ?? 0);
  if (kind !== undefined) return { kind, message };
  const isLost =
    fatal === true ||
    syscall !== undefined ||
    code?.startsWith('PROTOCOL_') === true ||
    isPoolError(name, message);
  return isLost ? { kind: 'unavailable', message: message === '' ? (code ?? name) : message } : null;
}

const isPoolError = (name: string, message: string): boolean =>
  name === 'KnexTimeoutError' ||
  name === 'TimeoutError' ||
  /^(aborted|Unable to acquire a connection)$/.test(message);

/** knex puts the statement before the driver's words. */
const lastPart = (message: string): string =>
  message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '');
