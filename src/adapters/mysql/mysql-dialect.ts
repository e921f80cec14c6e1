import { type Knex } from 'knex';
import { type FieldPacket } from 'mysql2';
import { type ColumnTypes, type Dialect, type SqlValue, type TableDefinition } from '../sql/dialect.js';
import { mysqlFailure } from './mysql-errors.js';
import { fromDatetime, toDatetime } from './mysql-instant.js';
import { withMysqlLock } from './mysql-lock.js';

/** Type number in the protocol. */
const DATETIME = 12;

const TYPES: ColumnTypes = {
  uuid: 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin',
  instant: 'DATETIME(3)',
  int: 'INT',
  bigint: 'BIGINT',
  flag: 'TINYINT',
  longText: 'MEDIUMTEXT',
  serial: 'BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY',
  word: (length) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
  text: (length) => `VARCHAR(${length})`,
};

function instant(epochMs: number): SqlValue;
function instant(epochMs: number | null): SqlValue;
function instant(epochMs: number | null): SqlValue {
  return epochMs === null ? null : toDatetime(epochMs);
}

/** The driver reads DATETIME as text; as a `typeCast` of the driver, called for every field, the same doubled the time of a read. */
function withInstants(rows: Record<string, unknown>[], fields: readonly FieldPacket[]): unknown[] {
  for (const { name } of fields.filter(({ columnType }) => columnType === DATETIME)) {
    for (const row of rows) if (typeof row[name] === 'string') row[name] = fromDatetime(row[name]);
  }
  return rows;
}

/** MySQL from 8.0.4 and MariaDB from 10.6: only what both take, so no RETURNING and no row alias in upserts. */
export const mysqlDialect: Dialect = {
  types: TYPES,
  forUpdate: 'FOR UPDATE',
  forUpdateSkipLocked: 'FOR UPDATE SKIP LOCKED',
  labelValue: 'CASE WHEN JSON_VALID(labels_json) THEN JSON_UNQUOTE(JSON_EXTRACT(labels_json, ?)) END',

  useIndex: (name) => `FORCE INDEX (${name})`,
  instant,
  // In a derived table of its own each would cost twice as much.
  part: (select) => `(${select})`,
  msBetween: (from, to) => `TIMESTAMPDIFF(MICROSECOND, ${from}, ${to}) DIV 1000`,
  valuesOf: (rows) => ({ sql: 'VALUES ?', values: [rows as unknown as Knex.RawBinding] }),
  keepExisting: (table, key) => `ON DUPLICATE KEY UPDATE ${table}.${key} = ${table}.${key}`,
  orUpdate: () => 'ON DUPLICATE KEY UPDATE',
  incoming: (column) => `VALUES(${column})`,
  updateFromJson: (table, key, columns) => {
    const paths = columns.map((_, i) => `v${i} VARCHAR(4000) CHARACTER SET utf8mb4 PATH '$[${i + 1}]'`);
    // The key is converted, or the comparison would convert the column and pass by its index. Left to itself a planner scans a small
    // table, which locks it whole.
    return `UPDATE JSON_TABLE(?, '$[*]' COLUMNS (k VARCHAR(64) PATH '$[0]', ${paths.join(', ')})) j
      STRAIGHT_JOIN ${table} t FORCE INDEX (PRIMARY) ON t.${key} = CONVERT(j.k USING ascii) COLLATE ascii_bin
      SET ${columns.map((column, i) => `t.${column} = j.v${i}`).join(', ')}`;
  },
  createTable: ({ name, members, indexes = {} }: TableDefinition) => {
    const keys = Object.entries(indexes).map(([index, columns]) => `KEY ${index} (${columns})`);
    return [
      `CREATE TABLE IF NOT EXISTS ${name} (${[...members, ...keys].join(', ')})
       ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    ];
  },
  addIndexedColumn: ({ table, column, index, indexed }) => [
    `ALTER TABLE ${table} ADD COLUMN ${column}, ADD KEY ${index} (${indexed})`,
  ],
  replaceIndex: (table, index, columns) => [
    `ALTER TABLE ${table} DROP KEY ${index}, ADD KEY ${index} (${columns})`,
  ],
  listIndexes: `SELECT table_name AS tbl, index_name AS idx, non_unique = 0 AS is_unique, column_name AS col
    FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index`,
  withMigrationLock: withMysqlLock,

  rowsOf: (response) => withInstants(...(response as [Record<string, unknown>[], FieldPacket[]])),
  affectedBy: (response) => (response as [{ affectedRows: number }])[0].affectedRows,
  failureOf: mysqlFailure,
};
