import { addColumns } from './add-columns.js';
import { type Migration } from './migration.js';

/** Hooks of tasks, and the summaries that are owed: a row goes when its summary was told or given up. */
export const hookTables: Migration = {
  name: '0004_hooks',
  async up(sql) {
    const { types: t } = sql.dialect;
    await addColumns(sql, 'task_meta', { hooks_json: `${t.longText} NULL` });
    const delivery = {
      name: 'hook_delivery',
      members: [
        `execution_id ${t.uuid} NOT NULL PRIMARY KEY`,
        `task_id ${t.word(64)} NOT NULL`,
        `task_name ${t.text(128)} NOT NULL`,
        `group_name ${t.text(64)} NOT NULL`,
        `hook_json ${t.longText} NOT NULL`,
        `failures ${t.int} NOT NULL`,
        `due_at ${t.instant} NOT NULL`,
      ],
      indexes: { hook_delivery_due: 'due_at' },
    };
    for (const statement of sql.dialect.createTable(delivery)) await sql.run(statement);
  },
};
