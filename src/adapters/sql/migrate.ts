import { type Knex } from 'knex';
import { type Dialect } from './dialect.js';
import { firstTables } from './migrations/0001-first-tables.js';
import { cronRules } from './migrations/0002-cron-rules.js';
import { slowAfter } from './migrations/0003-slow-after.js';
import { hookTables } from './migrations/0004-hooks.js';
import { executorType } from './migrations/0005-executor-type.js';
import { formerSchedules } from './migrations/0006-former-schedules.js';
import { jitter } from './migrations/0007-jitter.js';
import { calendars } from './migrations/0008-calendars.js';
import { timingIndexes } from './migrations/0010-timing-indexes.js';
import { type Migration } from './migrations/migration.js';
import { type SqlDb, Statements } from './sql-db.js';
import { toAxError } from './sql-errors.js';

const MIGRATIONS: readonly Migration[] = [
  firstTables,
  cronRules,
  slowAfter,
  hookTables,
  executorType,
  formerSchedules,
  jitter,
  calendars,
  timingIndexes,
];
const TABLE = 'ax_migration';

/** Brings the schema up to this code; returns the names of the steps taken. Concurrent calls wait for each other. */
export async function migrate(db: SqlDb): Promise<string[]> {
  const { knex, dialect } = db;
  try {
    return await dialect.withMigrationLock(knex, async () => {
      // Whoever held knex's own lock has died: it lives and ends within ours.
      await knex.migrate.forceFreeMigrationsLock(configFor(dialect));
      const latest: unknown = await knex.migrate.latest(configFor(dialect));
      return (latest as [number, string[]])[1];
    });
  } catch (error) {
    throw toAxError(error, dialect);
  }
}

/** Steps of this code that the store has not taken. */
export async function pendingMigrations(db: SqlDb): Promise<string[]> {
  return db.read(async ({ knex }) => {
    const isNew = !(await knex.schema.hasTable(TABLE));
    const names: string[] = isNew ? [] : await knex<{ name: string }>(TABLE).pluck('name');
    return MIGRATIONS.map(({ name }) => name).filter((name) => !names.includes(name));
  });
}

const configFor = (dialect: Dialect): Knex.MigratorConfig => ({
  tableName: TABLE,
  // An older ax meets a newer schema while a cluster is upgraded.
  disableMigrationsListValidation: true,
  migrationSource: {
    getMigrations: async () => [...MIGRATIONS],
    getMigrationName: ({ name }: Migration) => name,
    getMigration: async (migration: Migration) => ({
      up: (knex: Knex) => migration.up(new Statements(knex, dialect)),
      down: async () => {
        throw new Error('migrations only go forward');
      },
    }),
  },
});
