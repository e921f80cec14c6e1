import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import knex, { type Knex } from 'knex';
import { sqliteDialect } from '../../src/adapters/embedded/sqlite-dialect.js';
import { openSqlite } from '../../src/adapters/embedded/sqlite-store.js';
import { SqlDb } from '../../src/adapters/sql/sql-db.js';
import { type Clock } from '../../src/ports/clock.js';

/** A commit that fails: `before` it took effect, or `after`, when only its answer is lost. */
export type CommitFault = 'before' | 'after' | null;

/** Writes queries, and never runs one. */
const builder = knex({ client: 'better-sqlite3', useNullAsDefault: true });

/** The statements that make ax's schema, as its migrations left it in a file. */
export async function schemaOf(): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'ax-schema-'));
  const clock = {
    now: () => 0,
    monotonicMs: () => 0,
    sleep: async () => undefined,
    schedule: () => () => undefined,
  };
  const store = await openSqlite(dir, { clock, random: { next: () => 0 } });
  await store.close({ clean: true });
  const file = new Database(join(dir, 'ax.db'), { readonly: true });
  const rows = file.prepare(
    "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
  );
  const statements = rows.all().map((row) => (row as { sql: string }).sql);
  file.close();
  await rm(dir, { recursive: true });
  return statements;
}

/**
 * ax's own SQL on a SQLite in memory, without knex's pool in between: a statement takes microseconds and no turn of the event loop.
 * One connection, so transactions and reads take turns, as they do in embedded mode.
 */
export class FastSqlite {
  readonly db: SqlDb;
  readonly raw: Database.Database;
  /** Asked at each commit that has changed something; null while none fails. */
  commitFault: (() => CommitFault) | null = null;
  private readonly prepared = new Map<string, Database.Statement>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(schema: readonly string[], clock: Clock) {
    this.raw = new Database(':memory:');
    for (const statement of schema) this.raw.exec(statement);
    const outside = this.connection((sql, values) => this.inTurn(async () => this.run(sql, values)));
    const transaction = (work: (trx: Knex) => Promise<unknown>) => this.inTurn(() => this.transact(work));
    const destroy = async () => this.raw.close();
    const stub = Object.assign(outside, { transaction, destroy }) as unknown as Knex;
    this.db = new SqlDb(stub, sqliteDialect, clock, { next: () => 0.5 });
  }

  rows<T>(sql: string): T[] {
    return this.raw.prepare(sql).all() as T[];
  }

  private async transact(work: (trx: Knex) => Promise<unknown>): Promise<unknown> {
    this.statement('BEGIN').run();
    const before = this.commitFault === null ? 0 : this.changes();
    try {
      const result = await work(
        this.connection(async (sql, values) => this.run(sql, values)) as unknown as Knex,
      );
      const fault = this.commitFault === null || this.changes() === before ? null : this.commitFault();
      if (fault === 'before') throw lostConnection();
      this.statement('COMMIT').run();
      if (fault === 'after') throw lostConnection();
      return result;
    } finally {
      if (this.raw.inTransaction) this.raw.exec('ROLLBACK');
    }
  }

  private changes(): number {
    return (this.statement('SELECT total_changes() AS n').get() as { n: number }).n;
  }

  /** One after the other, whatever became of the one before. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }

  private run(sql: string, values: readonly unknown[]): unknown {
    const statement = this.statement(sql);
    const bound = values.map((value) => (typeof value === 'boolean' ? Number(value) : (value ?? null)));
    return statement.reader ? statement.all(...bound) : statement.run(...bound);
  }

  private statement(sql: string): Database.Statement {
    const known = this.prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.raw.prepare(sql);
    if (this.prepared.size < 500) this.prepared.set(sql, statement);
    return statement;
  }

  /** What ax uses of knex: raw statements, and built queries that are awaited or only asked for their text. */
  private connection(run: (sql: string, values: readonly unknown[]) => Promise<unknown>): object {
    const table = (name: string) => {
      const query = builder(name);
      const start = () => {
        const { sql, bindings } = query.toSQL().toNative();
        return run(sql, bindings);
      };
      return Object.assign(query, {
        then: (onDone: (v: unknown) => unknown, onFailed: (e: unknown) => unknown) =>
          start().then(onDone, onFailed),
      });
    };
    return Object.assign(table, { raw: (sql: string, values: readonly unknown[] = []) => run(sql, values) });
  }
}

const lostConnection = (): Error => Object.assign(new Error('connection lost'), { code: 'SQLITE_IOERR' });
