import { type Execution, type ExecutionReport, type LedgerEntry } from '../../domain/execution.js';
import {
  type ExecutionFilter,
  type ExecutionRepo,
  type UnsettledExecution,
} from '../../ports/execution-repo.js';
import { type Page, type PageRequest } from '../../ports/task-repo.js';
import { AdoptionMarks, adoptPending } from './adopt-pending.js';
import { executionIds, unsettledIds } from './execution-ids.js';
import { executionOf, type ExecutionRow, ledgerOf, type LedgerRow } from './execution-row.js';
import { cursorOf, pageOf, rowsToRead } from './keyset-page.js';
import { readExecutions } from './read-executions.js';
import { writeReports } from './report-writes.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { TaskMapper } from './task-mapper.js';
import { TASK_COLUMNS, type TaskRow } from './task-row.js';
import { isWord } from './word.js';

export class SqlExecutionRepo implements ExecutionRepo {
  private readonly mapper = new TaskMapper();

  constructor(private readonly db: SqlDb) {}

  async apply(reports: readonly ExecutionReport[]): Promise<void> {
    if (reports.length === 0) return;
    await this.db.transaction((sql) => writeReports(sql, reports, this.db.clock.now()));
  }

  async find(
    id: string,
  ): Promise<{ readonly execution: Execution; readonly ledger: readonly LedgerEntry[] } | null> {
    if (!isWord(id)) return null;
    return this.db.read(async (sql) => {
      const [row] = await readExecutions(sql, [id]);
      if (row === undefined) return null;
      const execution = executionOf(row);
      const entries = await sql.rows<LedgerRow>(
        'SELECT kind, at, node, detail_json FROM execution_event WHERE execution_id = ? ORDER BY at, generation, seq',
        [id],
      );
      return { execution, ledger: ledgerOf(execution, entries) };
    });
  }

  async list(filter: ExecutionFilter, page: PageRequest): Promise<Page<Execution>> {
    if (filter.taskId !== undefined && !isWord(filter.taskId)) return { items: [], nextCursor: null };
    const cursor = cursorOf(page);
    return this.db.read(async (sql) => {
      const pendingFrom = filter.status === 'pending' ? await new AdoptionMarks(sql).pendingFrom() : '';
      const ids = await executionIds(sql, filter, { ...page, cursor, size: rowsToRead(page) }, pendingFrom);
      const { items, nextCursor } = pageOf(ids, page, (id) => id);
      const rows = await readExecutions(sql, items);
      return { items: rows.map(executionOf), nextCursor };
    });
  }

  async adoptPending(recordedBefore: number): Promise<number> {
    return adoptPending(this.db, recordedBefore);
  }

  async unsettled(request: {
    readonly updatedBefore: number;
    readonly afterId: string | null;
    readonly limit: number;
  }): Promise<UnsettledExecution[]> {
    return this.db.read(async (sql) => {
      const rows = await readExecutions(sql, await unsettledIds(sql, request));
      const tasks = await this.tasksOf(sql, rows);
      return rows.toReversed().map((row) => ({
        execution: executionOf(row),
        task: tasks.get(row.task_id) ?? null,
        updatedAt: row.updated_at,
      }));
    });
  }

  private async tasksOf(sql: Statements, rows: readonly ExecutionRow[]) {
    const ids = [...new Set(rows.map((row) => row.task_id))];
    const query = sql
      .knex('task_meta')
      .select(...TASK_COLUMNS)
      .whereIn('id', ids);
    const tasks = await sql.select<TaskRow>(query);
    return new Map((await this.mapper.fromRows(sql, tasks)).map((task) => [task.id, task]));
  }
}
