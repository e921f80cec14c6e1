import { type Knex } from 'knex';
import { AxError } from '../../domain/errors.js';
import { type BrokenTask, type Task } from '../../domain/task.js';
import { type AuditEntry } from '../../ports/audit.js';
import {
  type Page,
  type PageRequest,
  type PoolDemand,
  type TaskFilter,
  type TaskRepo,
} from '../../ports/task-repo.js';
import { assertCurrentCalendar } from './calendar-rows.js';
import { cursorOf, pageOf, rowsToRead } from './keyset-page.js';
import { appendAudit } from './sql-audit-log.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { TaskMapper } from './task-mapper.js';
import { TASK_COLUMNS, taskRow, type TaskRow } from './task-row.js';
import { isWord } from './word.js';

const SELECT_BY_ID = `SELECT ${TASK_COLUMNS.join(', ')} FROM task_meta WHERE id = ?`;

export class SqlTaskRepo implements TaskRepo {
  private readonly mapper = new TaskMapper();

  constructor(private readonly db: SqlDb) {}

  async insert(task: Task, audit: AuditEntry): Promise<void> {
    await this.db.transaction(async (sql) => {
      await assertCurrentCalendar(sql, task);
      try {
        await sql.knex('task_meta').insert(taskRow(task, sql.dialect));
      } catch (error) {
        if (!sql.isDuplicate(error)) throw error;
        throw new AxError('already_exists', `there is a task ${task.id} already`);
      }
      await appendAudit(sql, audit);
    });
  }

  async find(id: string): Promise<Task | BrokenTask | null> {
    if (!isWord(id)) return null;
    return this.db.read(async (sql) => {
      const rows = await sql.rows<TaskRow>(SELECT_BY_ID, [id]);
      return (await this.mapper.fromRows(sql, rows))[0] ?? null;
    });
  }

  async list(filter: TaskFilter, page: PageRequest): Promise<Page<Task | BrokenTask>> {
    const after = cursorOf(page);
    const tasks = await this.db.read(async (sql) => {
      const query = sql.knex('task_meta').select(...TASK_COLUMNS);
      narrow(query, filter, sql.dialect.labelValue);
      if (after !== null) query.where('id', '>', after);
      query.orderBy('id').limit(rowsToRead(page)).offset(page.offset);
      return this.mapper.fromRows(sql, await sql.select<TaskRow>(query));
    });
    return pageOf(tasks, page, ({ id }) => id);
  }

  async demand(limit: number): Promise<PoolDemand[]> {
    return this.db.read((sql) =>
      sql.rows<PoolDemand>(
        `SELECT pool, executor_type AS executor, COUNT(*) AS tasks
         FROM task_meta ${sql.dialect.useIndex('task_meta_demand')} WHERE enabled = 1
         GROUP BY pool, executor_type ORDER BY COUNT(*) DESC, pool, executor_type LIMIT ?`,
        [limit],
      ),
    );
  }

  async update(
    id: string,
    expectedVersion: number | null,
    change: (current: Task | BrokenTask) => { readonly task: Task; readonly audit: AuditEntry | null },
  ): Promise<Task> {
    return this.db.transaction(async (sql) => {
      const { task, audit } = change(await this.lock(sql, id, expectedVersion));
      if (audit === null) return task;
      await assertCurrentCalendar(sql, task);
      await sql
        .knex('task_meta')
        .where({ id })
        .update({ ...taskRow(task, sql.dialect), hold_until: null });
      await appendAudit(sql, audit);
      return task;
    });
  }

  async delete(
    id: string,
    expectedVersion: number | null,
    audit: (current: Task | BrokenTask) => AuditEntry,
  ): Promise<void> {
    await this.db.transaction(async (sql) => {
      const entry = audit(await this.lock(sql, id, expectedVersion));
      await sql.run('DELETE FROM task_meta WHERE id = ?', [id]);
      await appendAudit(sql, entry);
    });
  }

  private async lock(
    sql: Statements,
    id: string,
    expectedVersion: number | null,
  ): Promise<Task | BrokenTask> {
    const rows = isWord(id) ? await sql.rows<TaskRow>(`${SELECT_BY_ID} ${sql.dialect.forUpdate}`, [id]) : [];
    const [current] = await this.mapper.fromRows(sql, rows);
    if (current === undefined) throw new AxError('not_found', `there is no task ${id}`);
    if (expectedVersion !== null && expectedVersion !== current.version) {
      const versions = `it is at version ${current.version}, not ${expectedVersion}`;
      throw new AxError('version_conflict', `task ${id} was changed meanwhile: ${versions}`);
    }
    return current;
  }
}

function narrow(query: Knex.QueryBuilder, filter: TaskFilter, labelValue: string): void {
  const { group, owner, isEnabled, label, text } = filter;
  if (group !== undefined) query.where('group_name', group);
  if (owner !== undefined) query.where('owner', owner);
  if (isEnabled !== undefined) query.where('enabled', Number(isEnabled));
  if (label !== undefined)
    query.whereRaw(`${labelValue} = ?`, [`$.${JSON.stringify(label.key)}`, label.value]);
  if (text === undefined) return;
  const pattern = `%${text.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`;
  const columns = isWord(text.toLowerCase().replaceAll(' ', '-')) ? ['name', 'id'] : ['name'];
  const alternatives = columns.map((column) => `LOWER(${column}) LIKE ? ESCAPE '!'`).join(' OR ');
  query.whereRaw(
    `(${alternatives})`,
    columns.map(() => pattern),
  );
}
