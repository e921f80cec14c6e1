import { type Migration } from './migration.js';

/**
 * When executions were due, decided and run, beside the ids by which a task's are found: statistics and forecasts read no rows, which lie
 * far apart and are ten times as wide. Every one of these columns is written with the index's entry or moves it anyway.
 */
export const timingIndexes: Migration = {
  name: '0010_timing_indexes',
  async up(sql) {
    const { dialect } = sql;
    for (const statement of [
      ...dialect.replaceIndex(
        'trigger_event',
        'trigger_event_task',
        'task_id, id, kind, window_start, fired_at',
      ),
      ...dialect.replaceIndex(
        'execution_log',
        'execution_log_task',
        'task_id, status, id, started_at, finished_at, reason',
      ),
    ])
      await sql.run(statement);
  },
};
