import { type Knex } from 'knex';
import { AxError } from '../../domain/errors.js';
import { type Clock } from '../../ports/clock.js';
import { type Metrics, type SqlOperation } from '../../ports/metrics.js';
import { type Random } from '../../ports/random.js';
import { type Dialect, type SqlValue } from './dialect.js';
import { toAxError } from './sql-errors.js';

const MAX_RETRIES = 6;
const FIRST_RETRY_MS = 20;
/** Bounds of one insert: SQLite takes 32,766 values in a statement, MariaDB 16 MB by default (at most 8 bytes a character, escaped). */
const CHUNK_ROWS = 1000;
const CHUNK_VALUES = 32_000;
const CHUNK_CHARACTERS = 1_000_000;

/** Statements on one connection: that of a transaction, or any of the pool. Errors are the driver's. */
export class Statements {
  constructor(
    readonly knex: Knex,
    readonly dialect: Dialect,
  ) {}

  async rows<T>(sql: string, values: readonly Knex.RawBinding[] = []): Promise<T[]> {
    return this.dialect.rowsOf(await this.knex.raw(sql, values)) as T[];
  }

  /** Rows of a query that was built, with instants as `rows` gives them. */
  async select<T>(query: Knex.QueryBuilder): Promise<T[]> {
    const { sql, bindings } = query.toSQL().toNative();
    return this.rows(sql, bindings as Knex.RawBinding[]);
  }

  /** The number of rows affected. */
  async run(sql: string, values: readonly Knex.RawBinding[] = []): Promise<number> {
    return this.dialect.affectedBy(await this.knex.raw(sql, values));
  }

  /** One statement for up to a thousand rows of common size. */
  async insert(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly SqlValue[])[],
    suffix = '',
  ): Promise<void> {
    for (const chunk of chunksOf(rows)) {
      const values = this.dialect.valuesOf(chunk);
      await this.run(`INSERT INTO ${table} (${columns.join(', ')}) ${values.sql} ${suffix}`, values.values);
    }
  }

  isDuplicate(error: unknown): boolean {
    return this.dialect.failureOf(error)?.kind === 'duplicate';
  }
}

/** Thrown inside a transaction to undo it and return `value` all the same. */
export class Rollback<T> extends Error {
  constructor(readonly value: T) {
    super('rolled back on purpose');
  }
}

/** What knex's pool tells of itself. */
type Pool = Readonly<Record<'numUsed' | 'numFree' | 'numPendingAcquires', () => number>>;

/** One SQL store: the pool, its dialect, and what transactions promise. Errors are AxErrors. */
export class SqlDb {
  constructor(
    readonly knex: Knex,
    readonly dialect: Dialect,
    readonly clock: Clock,
    private readonly random: Random,
    private readonly metrics: Metrics | null = null,
  ) {}

  /** Reads outside of a transaction. */
  async read<T>(work: (sql: Statements) => Promise<T>): Promise<T> {
    return this.measured('read', async () => {
      try {
        return await work(new Statements(this.knex, this.dialect));
      } catch (error) {
        throw this.failure('read', error);
      }
    });
  }

  /**
   * Runs `work` in one transaction. Lost to a concurrent one, it is repeated from the start, a bounded number of times after jittered
   * pauses: `work` must be free of other effects. An error rolls all back; only of a lost commit the outcome is unknown.
   */
  async transaction<T>(work: (sql: Statements) => Promise<T>): Promise<T> {
    return this.measured('transaction', () => this.transact(work));
  }

  /** Tells how the pool of connections is used. */
  measurePool(): void {
    const { pool } = this.knex.client as { readonly pool?: Pool };
    if (pool === undefined) return;
    const uses = { used: pool.numUsed(), free: pool.numFree(), waiting: pool.numPendingAcquires() } as const;
    for (const state of ['used', 'free', 'waiting'] as const)
      this.metrics?.gauge('sql_pool_connections', { state }, uses[state]);
  }

  private async transact<T>(work: (sql: Statements) => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await this.knex.transaction((trx) => work(new Statements(trx, this.dialect)));
      } catch (error) {
        if (error instanceof Rollback) return error.value as T;
        const isLost = this.dialect.failureOf(error)?.kind === 'contention';
        if (!isLost || failures > MAX_RETRIES) throw this.failure('transaction', error);
        this.metrics?.count('sql_retries_total', {});
        await this.clock.sleep(this.random.next() * FIRST_RETRY_MS * 2 ** failures);
      }
    }
  }

  private async measured<T>(operation: SqlOperation, work: () => Promise<T>): Promise<T> {
    const { clock, metrics } = this;
    const startedAt = clock.monotonicMs();
    try {
      return await work();
    } finally {
      const seconds = (clock.monotonicMs() - startedAt) / 1000;
      metrics?.observe('sql_operation_duration_seconds', { operation }, seconds);
    }
  }

  /** The error as the caller gets it; only the driver's own is counted. */
  private failure(operation: SqlOperation, error: unknown): unknown {
    const failure = toAxError(error, this.dialect);
    if (failure !== error && failure instanceof AxError)
      this.metrics?.count('sql_errors_total', { operation, code: failure.code });
    return failure;
  }

  /** Ends all connections; only after everything that uses them has stopped. */
  async close(): Promise<void> {
    await this.knex.destroy();
  }
}

function* chunksOf(rows: readonly (readonly SqlValue[])[]): Generator<readonly (readonly SqlValue[])[]> {
  let start = 0;
  let characters = 0;
  for (const [i, row] of rows.entries()) {
    const size = row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
    const isFull = i - start >= CHUNK_ROWS || (i - start + 1) * row.length > CHUNK_VALUES;
    if (i > start && (isFull || characters + size > CHUNK_CHARACTERS)) {
      yield rows.slice(start, i);
      start = i;
      characters = 0;
    }
    characters += size;
  }
  if (start < rows.length) yield rows.slice(start);
}
