import { EXECUTION_COLUMNS, type ExecutionRow } from './execution-row.js';
import { type Statements } from './sql-db.js';

/** Newest first. */
export async function readExecutions(sql: Statements, ids: readonly string[]): Promise<ExecutionRow[]> {
  if (ids.length === 0) return [];
  return sql.rows<ExecutionRow>(
    `SELECT ${EXECUTION_COLUMNS} FROM trigger_event e LEFT JOIN execution_log x ON x.id = e.id
     WHERE e.id IN (${ids.map(() => '?').join(', ')}) ORDER BY e.id DESC`,
    ids,
  );
}
