import { type Knex } from 'knex';

export type SqlValue = string | number | null;

/** SQL text with its values, one for each `?`. */
export interface Fragment {
  readonly sql: string;
  readonly values: readonly Knex.RawBinding[];
}

/**
 * What a driver's error means for the caller:
 * - `duplicate`: a unique key refused the row;
 * - `contention`: lost to a concurrent transaction, the same transaction may succeed when repeated;
 * - `unavailable`: the store could not be reached or could not answer; the outcome may be unknown;
 * - `refused_value`: a value does not fit its column.
 */
export interface DriverFailure {
  readonly kind: 'duplicate' | 'contention' | 'unavailable' | 'refused_value';
  readonly message: string;
}

/** Column types by what they hold. `word` is ASCII compared byte by byte, `text` is Unicode; lengths are characters. */
export interface ColumnTypes {
  readonly uuid: string;
  readonly instant: string;
  readonly int: string;
  readonly bigint: string;
  readonly flag: string;
  /** Beyond any `text`. */
  readonly longText: string;
  /** Primary key that counts up by itself. */
  readonly serial: string;
  word(length: number): string;
  text(length: number): string;
}

export interface TableDefinition {
  readonly name: string;
  /** Columns and keys, as in `CREATE TABLE`. */
  readonly members: readonly string[];
  /** Columns by index name. */
  readonly indexes?: Readonly<Record<string, string>>;
}

/** A column that a table gets later, and an index for it. */
export interface IndexedColumn {
  readonly table: string;
  /** Name and definition, as in `CREATE TABLE`. */
  readonly column: string;
  readonly index: string;
  readonly indexed: string;
}

/** Everything in which the SQL of ax differs between its stores. Instants are read as epoch ms everywhere. */
export interface Dialect {
  readonly types: ColumnTypes;
  /** Suffix that locks the rows read; the second form passes over rows that another transaction holds. */
  readonly forUpdate: string;
  readonly forUpdateSkipLocked: string;
  /** Value of one label as text; its one `?` is a JSON path. Null where the labels are not JSON. */
  readonly labelValue: string;

  /** Makes the planner read a table, named before it with its alias, by this index. */
  useIndex(name: string): string;
  /** An instant as the driver takes it. */
  instant(epochMs: number): SqlValue;
  instant(epochMs: number | null): SqlValue;
  /** Milliseconds from one instant to another, both columns, as a whole number. */
  msBetween(from: string, to: string): string;
  /** A select with an order and a limit as a part of a union. */
  part(select: string): string;
  /** `VALUES …` with these rows. */
  valuesOf(rows: readonly (readonly SqlValue[])[]): Fragment;
  /** Suffix of an insert that leaves an existing row as it is. */
  keepExisting(table: string, key: string): string;
  /** Suffix of an insert, before assignments, that updates an existing row; they take effect from left to right or all at once. */
  orUpdate(key: string): string;
  /** The refused row's value in such an assignment. */
  incoming(column: string): string;
  /** An update whose one `?` is a JSON array of rows `[key, …values of columns]`; text and null only. */
  updateFromJson(table: string, key: string, columns: readonly string[]): string;
  /** Statements that make a table unless it exists. */
  createTable(definition: TableDefinition): readonly string[];
  /** Statements that add a column and an index together; they break off between two only where DDL can be rolled back. */
  addIndexedColumn(addition: IndexedColumn): readonly string[];
  /** Statements that give an existing index other columns; they can be repeated, and reads by its name go on meanwhile. */
  replaceIndex(table: string, index: string, columns: string): readonly string[];
  /** A query for the indexes of all tables: `tbl`, `idx`, `is_unique` (1) and `col`, one row for each column in its order. */
  readonly listIndexes: string;
  /** Runs `work` while no other migration of this store runs; waits for its turn. */
  withMigrationLock<T>(knex: Knex, work: () => Promise<T>): Promise<T>;

  rowsOf(response: unknown): unknown[];
  affectedBy(response: unknown): number;
  /** Null: not the driver's error. */
  failureOf(error: unknown): DriverFailure | null;
}
