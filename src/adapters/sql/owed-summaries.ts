import { type ExecutionReport, isTerminal, type OwedSummary, type Status } from '../../domain/execution.js';
import { type SqlValue } from './dialect.js';
import { type Statements } from './sql-db.js';
import { cut } from './stored-text.js';

const COLUMNS = ['execution_id', 'task_id', 'task_name', 'group_name', 'hook_json', 'failures', 'due_at'];

/**
 * Notes the summaries that these reports owe, once they are applied, in the same transaction: of those that count, since the first
 * terminal status stays, and once, since the ledger tells of every try. Costs nothing when none owes.
 */
export async function recordOwed(
  sql: Statements,
  reports: readonly ExecutionReport[],
  now: number,
): Promise<void> {
  const owing = reports.flatMap((report) =>
    report.owed !== undefined && isTerminal(report.status) ? [{ ...report, owed: report.owed }] : [],
  );
  if (owing.length === 0) return;
  const stored = await untold(
    sql,
    owing.map(({ executionId }) => executionId),
  );
  const rows = owing
    .filter(({ executionId, status }) => stored.get(executionId) === status)
    .map(({ executionId, taskId, owed }) => [
      executionId,
      taskId,
      ...owedValues(owed),
      0,
      sql.dialect.instant(now),
    ]);
  await sql.insert('hook_delivery', COLUMNS, rows, sql.dialect.keepExisting('hook_delivery', 'execution_id'));
}

/** The status of those of whom nobody was told yet. */
async function untold(sql: Statements, ids: readonly string[]): Promise<Map<string, Status>> {
  const rows = await sql.rows<{ id: string; status: Status }>(
    `SELECT x.id, x.status FROM execution_log x WHERE x.id IN (${ids.map(() => '?').join(', ')})
     AND NOT EXISTS (SELECT 1 FROM execution_event v
       WHERE v.execution_id = x.id AND v.kind IN ('post_hook_sent', 'post_hook_failed'))`,
    ids,
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}

const owedValues = ({ hook, taskName, group }: OwedSummary): SqlValue[] => [
  cut(taskName, 128),
  cut(group, 64),
  JSON.stringify(hook),
];
