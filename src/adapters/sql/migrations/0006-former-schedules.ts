import { addColumns } from './add-columns.js';
import { type Migration } from './migration.js';

/** What still decides slots before an edit; without a value there are none. */
export const formerSchedules: Migration = {
  name: '0006_former_schedules',
  up: (sql) => addColumns(sql, 'task_meta', { former_json: `${sql.dialect.types.longText} NULL` }),
};
