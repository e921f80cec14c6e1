import { type Outcome } from '../../domain/execution.js';
import { restoreHooks, restorePostHook } from '../../domain/hooks.js';
import { type HookDelivery, type HookRepo, type HookTry } from '../../ports/hook-repo.js';
import { type LastOutcome } from '../../ports/last-outcomes.js';
import { executionOf } from './execution-row.js';
import { readExecutions } from './read-executions.js';
import { writeLedger } from './report-writes.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { recordOf } from './stored-text.js';

interface DeliveryRow {
  readonly execution_id: string;
  readonly task_id: string;
  readonly task_name: string;
  readonly group_name: string;
  readonly hook_json: string;
  readonly failures: number;
}

interface OutcomeRow {
  readonly task_id: string;
  readonly status: Outcome['status'];
  readonly slot: number;
  readonly finished_at: number;
}

/** Tasks of one read. */
const CHUNK = 500;

/** A delivery is leased by moving `due_at` to the end of the lease: who dies gives it back by that. */
export class SqlHookRepo implements HookRepo {
  constructor(private readonly db: SqlDb) {}

  async lease({ now, leaseMs, limit }: Parameters<HookRepo['lease']>[0]): Promise<HookDelivery[]> {
    const { dialect } = this.db;
    return this.db.transaction(async (sql) => {
      const rows = await sql.rows<DeliveryRow>(
        `SELECT execution_id, task_id, task_name, group_name, hook_json, failures FROM hook_delivery
         WHERE due_at <= ? ORDER BY due_at LIMIT ? ${dialect.forUpdateSkipLocked}`,
        [dialect.instant(now), limit],
      );
      if (rows.length === 0) return [];
      const ids = rows.map(({ execution_id }) => execution_id);
      await sql.run(
        `UPDATE hook_delivery SET due_at = ? WHERE execution_id IN (${ids.map(() => '?').join(', ')})`,
        [dialect.instant(now + leaseMs), ...ids],
      );
      const executions = await readExecutions(sql, ids);
      const byId = new Map(executions.map((row) => [row.id, executionOf(row)]));
      return rows.map((row) => ({
        executionId: row.execution_id,
        taskId: row.task_id,
        taskName: row.task_name,
        group: row.group_name,
        hook: restorePostHook(recordOf(row.hook_json)) ?? null,
        execution: byId.get(row.execution_id) ?? null,
        failures: row.failures,
      }));
    });
  }

  async settle({ executionId, entry, failures, retryAt }: HookTry): Promise<void> {
    await this.db.transaction(async (sql) => {
      await writeLedger(sql, [{ executionId, generation: 0, seq: failures, entry }]);
      if (retryAt === null) await sql.run('DELETE FROM hook_delivery WHERE execution_id = ?', [executionId]);
      else
        await sql.run('UPDATE hook_delivery SET failures = ?, due_at = ? WHERE execution_id = ?', [
          failures,
          sql.dialect.instant(retryAt),
          executionId,
        ]);
    });
  }

  async watchedOutcomes(): Promise<{ readonly taskId: string; readonly outcome: LastOutcome }[]> {
    return this.db.read(async (sql) => {
      const taskIds = await watchedTasks(sql);
      const found = [];
      for (let at = 0; at < taskIds.length; at += CHUNK) {
        for (const { task_id, status, slot, finished_at } of await newest(sql, taskIds.slice(at, at + CHUNK)))
          found.push({ taskId: task_id, outcome: { status, slot, finishedAt: finished_at } });
      }
      return found;
    });
  }
}

/** Reads the definitions of enabled tasks once; few have hooks. */
async function watchedTasks(sql: Statements): Promise<string[]> {
  const rows = await sql.rows<{ hooks_json: string }>(
    `SELECT hooks_json FROM task_meta WHERE enabled = 1 AND hooks_json LIKE '%"task_succeeded"%'`,
  );
  const named = rows.flatMap(({ hooks_json }) => {
    const check = restoreHooks(recordOf(hooks_json))?.pre?.check;
    return check?.type === 'task_succeeded' ? [check.taskId] : [];
  });
  return [...new Set(named)];
}

/** The newest end of each task: for each status one look at the end of an index range, however long the history is. */
async function newest(sql: Statements, taskIds: readonly string[]): Promise<OutcomeRow[]> {
  const last = (status: Outcome['status']) =>
    `(SELECT MAX(x.id) FROM execution_log x WHERE x.task_id = t.id AND x.status = '${status}') AS last_${status}`;
  const rows = await sql.rows<Readonly<Record<string, string | null>>>(
    `SELECT ${last('success')}, ${last('fail')}, ${last('timeout')} FROM task_meta t
     WHERE t.id IN (${taskIds.map(() => '?').join(', ')})`,
    taskIds,
  );
  const ids = rows.flatMap((row) => {
    const found = Object.values(row).filter((id) => id !== null);
    return found.length === 0 ? [] : [found.reduce((a, b) => (a > b ? a : b))];
  });
  if (ids.length === 0) return [];
  return sql.rows<OutcomeRow>(
    `SELECT x.task_id, x.status, e.slot, x.finished_at FROM execution_log x JOIN trigger_event e ON e.id = x.id
     WHERE x.id IN (${ids.map(() => '?').join(', ')})`,
    ids,
  );
}
