import { addColumns } from './add-columns.js';
import { type Migration } from './migration.js';

/** How much later than at its slot a task may fire; without a value it fires at the slot. */
export const jitter: Migration = {
  name: '0007_jitter',
  up: (sql) => addColumns(sql, 'task_meta', { jitter_sec: `${sql.dialect.types.int} NULL` }),
};
