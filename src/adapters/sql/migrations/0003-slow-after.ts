import { addColumns } from './add-columns.js';
import { type Migration } from './migration.js';

/** When a run counts as slow; without a value none does. */
export const slowAfter: Migration = {
  name: '0003_slow_after',
  up: (sql) => addColumns(sql, 'task_meta', { slow_after_sec: `${sql.dialect.types.int} NULL` }),
};
