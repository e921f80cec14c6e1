import { addColumns } from './add-columns.js';
import { type Migration } from './migration.js';

/** How an expression is read and what changes of the clocks do to it; without a value as they were before there was a choice. */
export const cronRules: Migration = {
  name: '0002_cron_rules',
  up: (sql) => {
    const word = `${sql.dialect.types.word(16)} NULL`;
    return addColumns(sql, 'task_meta', { cron_dialect: word, dst_gap: word, dst_overlap: word });
  },
};
