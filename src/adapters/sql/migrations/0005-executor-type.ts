import { type Migration } from './migration.js';

/**
 * The type of a task's executor in a column of its own, so that demand is counted in an index and no JSON is read. What an older ax has
 * stored, or stores while it still serves, calls over HTTP: it knows nothing else.
 */
export const executorType: Migration = {
  name: '0005_executor_type',
  async up(sql) {
    if (await sql.knex.schema.hasColumn('task_meta', 'executor_type')) return;
    const statements = sql.dialect.addIndexedColumn({
      table: 'task_meta',
      column: `executor_type ${sql.dialect.types.word(16)} NOT NULL DEFAULT 'http'`,
      index: 'task_meta_demand',
      indexed: 'enabled, pool, executor_type',
    });
    for (const statement of statements) await sql.run(statement);
  },
};
