import { addColumns } from './add-columns.js';
import { type Migration } from './migration.js';

/**
 * Calendars, their versions, and the one that a task uses; without a value it uses none. A version is never changed. An ax of before knows
 * nothing of them: until it is gone, it fires on excluded days too.
 */
export const calendars: Migration = {
  name: '0008_calendars',
  async up(sql) {
    const { types: t } = sql.dialect;
    const tables = [
      {
        name: 'calendar',
        members: [
          `name ${t.word(64)} NOT NULL PRIMARY KEY`,
          `version ${t.int} NOT NULL`,
          `is_deleted ${t.flag} NOT NULL`,
          `known_until ${t.word(10)} NULL`,
          `updated_at ${t.instant} NOT NULL`,
        ],
      },
      {
        name: 'calendar_version',
        members: [
          `name ${t.word(64)} NOT NULL`,
          `version ${t.int} NOT NULL`,
          `body_json ${t.longText} NOT NULL`,
          'PRIMARY KEY (name, version)',
        ],
      },
    ];
    for (const table of tables)
      for (const statement of sql.dialect.createTable(table)) await sql.run(statement);
    await addColumns(sql, 'task_meta', {
      calendar_version: `${t.int} NULL`,
      calendar_rule: `${t.word(16)} NULL`,
      calendar_shift: `${t.word(16)} NULL`,
    });
    if (await sql.knex.schema.hasColumn('task_meta', 'calendar')) return;
    const statements = sql.dialect.addIndexedColumn({
      table: 'task_meta',
      column: `calendar ${t.word(64)} NULL`,
      index: 'task_meta_calendar',
      indexed: 'calendar, id',
    });
    for (const statement of statements) await sql.run(statement);
  },
};
