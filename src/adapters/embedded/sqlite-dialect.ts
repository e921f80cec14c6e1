import { type ColumnTypes, type Dialect, type SqlValue, type TableDefinition } from '../sql/dialect.js';
import { sqliteFailure } from './sqlite-errors.js';

/** Instants are integers, epoch ms. */
const TYPES: ColumnTypes = {
  uuid: 'TEXT',
  instant: 'INTEGER',
  int: 'INTEGER',
  bigint: 'INTEGER',
  flag: 'INTEGER',
  longText: 'TEXT',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  word: () => 'TEXT',
  text: () => 'TEXT',
};

function instant(epochMs: number): SqlValue;
function instant(epochMs: number | null): SqlValue;
function instant(epochMs: number | null): SqlValue {
  return epochMs;
}

/** SQLite from 3.38. One connection in one process: transactions queue, so rows need no locks. */
export const sqliteDialect: Dialect = {
  types: TYPES,
  forUpdate: '',
  forUpdateSkipLocked: '',
  labelValue: 'CASE WHEN JSON_VALID(labels_json) THEN JSON_EXTRACT(labels_json, ?) END',

  useIndex: (name) => `INDEXED BY ${name}`,
  instant,
  part: (select) => `SELECT * FROM (${select})`,
  msBetween: (from, to) => `(${to} - ${from})`,
  valuesOf: (rows) => {
    const row = `(${(rows[0] ?? []).map(() => '?').join(', ')})`;
    return { sql: `VALUES ${rows.map(() => row).join(', ')}`, values: rows.flat() as never };
  },
  keepExisting: () => 'ON CONFLICT DO NOTHING',
  orUpdate: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
  incoming: (column) => `excluded.${column}`,
  updateFromJson: (table, key, columns) => {
    const values = columns.map((_, i) => `value ->> ${i + 1} AS v${i}`);
    return `UPDATE ${table} SET ${columns.map((column, i) => `${column} = j.v${i}`).join(', ')}
      FROM (SELECT value ->> 0 AS k, ${values.join(', ')} FROM json_each(?)) j WHERE ${table}.${key} = j.k`;
  },
  createTable: ({ name, members, indexes = {} }: TableDefinition) => [
    `CREATE TABLE IF NOT EXISTS ${name} (${members.join(', ')})`,
    ...Object.entries(indexes).map(
      ([index, columns]) => `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (${columns})`,
    ),
  ],
  addIndexedColumn: ({ table, column, index, indexed }) => [
    `ALTER TABLE ${table} ADD COLUMN ${column}`,
    `CREATE INDEX ${index} ON ${table} (${indexed})`,
  ],
  replaceIndex: (table, index, columns) => [
    `DROP INDEX IF EXISTS ${index}`,
    `CREATE INDEX ${index} ON ${table} (${columns})`,
  ],
  listIndexes: `SELECT t.name AS tbl, i.name AS idx, i."unique" AS is_unique, c.name AS col
    FROM sqlite_master t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
    WHERE t.type = 'table' ORDER BY t.name, i.name, c.seqno`,
  withMigrationLock: (_, work) => work(),

  rowsOf: (response) => response as unknown[],
  affectedBy: (response) => (response as { changes: number }).changes,
  failureOf: sqliteFailure,
};
