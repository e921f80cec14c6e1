import { isTerminal, STATUSES, type Status } from '../../domain/execution.js';
import { type ExecutionFilter } from '../../ports/execution-repo.js';
import { type PageRequest } from '../../ports/task-repo.js';
import { type Statements } from './sql-db.js';

type Value = string | number;

const UNSETTLED: readonly Status[] = STATUSES.filter((status) => !isTerminal(status));

/**
 * Ids of executions, newest first, always read from an index in its order. Event ids are ordered by time, so no column of time is
 * needed. The indexes are named: MariaDB, left to itself, walks a status from its end to the cursor.
 * `pendingFrom`: no older event lacks a state (see AdoptionMarks).
 */
export async function executionIds(
  sql: Statements,
  filter: ExecutionFilter,
  page: PageRequest,
  pendingFrom: string,
): Promise<string[]> {
  const { taskId, status } = filter;
  const depth = page.offset + page.size;
  const tail = { limit: page.size, offset: page.offset };
  const within = (alias: string): Condition[] => [
    ...(taskId === undefined ? [] : [{ sql: `${alias}.task_id = ?`, value: taskId }]),
    ...(page.cursor === null ? [] : [{ sql: `${alias}.id < ?`, value: page.cursor }]),
  ];
  const index = (name: string) => sql.dialect.useIndex(name);
  const byTask = taskId === undefined ? '' : index('trigger_event_task');
  const events = { from: `trigger_event e ${byTask}`, alias: 'e' };
  const byStatus = index(taskId === undefined ? 'execution_log_status' : 'execution_log_task');
  const log = { from: `execution_log x ${byStatus}`, alias: 'x' };
  if (status === undefined) return merge(sql, [{ ...events, where: within('e') }], 'DESC', depth, tail);
  const reported = { ...log, where: [{ sql: 'x.status = ?', value: status }, ...within('x')] };
  if (status !== 'pending') return merge(sql, [reported], 'DESC', depth, tail);
  const unreported = {
    from: `${events.from} LEFT JOIN execution_log x ON x.id = e.id`,
    alias: 'e',
    where: [{ sql: 'e.id >= ?', value: pendingFrom }, { sql: 'x.id IS NULL' }, ...within('e')],
  };
  return merge(sql, [reported, unreported], 'DESC', depth, tail);
}

/** Ids of executions that have not ended, oldest first; one index range per status, since a range over all would be sorted. */
export async function unsettledIds(
  sql: Statements,
  request: { readonly updatedBefore: number; readonly afterId: string | null; readonly limit: number },
): Promise<string[]> {
  const { updatedBefore, afterId, limit } = request;
  const sources = UNSETTLED.map((status) => ({
    from: `execution_log x ${sql.dialect.useIndex('execution_log_status')} JOIN trigger_event e ON e.id = x.id`,
    alias: 'x',
    where: [
      { sql: 'x.status = ?', value: status },
      { sql: 'x.id > ?', value: afterId ?? '' },
      { sql: 'x.updated_at < ?', value: sql.dialect.instant(updatedBefore) as Value },
    ],
  }));
  return merge(sql, sources, 'ASC', limit, { limit, offset: 0 });
}

interface Condition {
  readonly sql: string;
  readonly value?: Value;
}

interface Source {
  readonly from: string;
  readonly alias: string;
  readonly where: readonly Condition[];
}

/** The first ids of several ordered sources, each of which is read no deeper than needed. */
async function merge(
  sql: Statements,
  sources: readonly Source[],
  order: 'ASC' | 'DESC',
  depth: number,
  tail: { readonly limit: number; readonly offset: number },
): Promise<string[]> {
  const values: Value[] = [];
  const parts = sources.map(({ from, alias, where }, i) => {
    for (const { value } of where) if (value !== undefined) values.push(value);
    values.push(depth);
    const conditions = where.length === 0 ? '' : `WHERE ${where.map((w) => w.sql).join(' AND ')}`;
    return `SELECT id FROM (SELECT ${alias}.id FROM ${from} ${conditions} ORDER BY ${alias}.id ${order} LIMIT ?) AS part${i}`;
  });
  const rows = await sql.rows<{ id: string }>(
    `${parts.join(' UNION ALL ')} ORDER BY id ${order} LIMIT ? OFFSET ?`,
    [...values, tail.limit, tail.offset],
  );
  return rows.map(({ id }) => id);
}
