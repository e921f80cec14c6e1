import { type Calendar, type CalendarDefinition } from '../../domain/calendar.js';
import { AxError } from '../../domain/errors.js';
import { type Task } from '../../domain/task.js';
import { type AuditEntry } from '../../ports/audit.js';
import { type CalendarChange, type CalendarEnd, type CalendarRepo } from '../../ports/calendar-repo.js';
import { type Page, type PageRequest } from '../../ports/task-repo.js';
import { calendarOfRow, CURRENT, lockCalendar } from './calendar-rows.js';
import { cursorOf, pageOf, rowsToRead } from './keyset-page.js';
import { appendAudit } from './sql-audit-log.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { type VersionRow } from './stored-calendars.js';
import { TaskMapper } from './task-mapper.js';
import { TASK_COLUMNS, taskRow, type TaskRow } from './task-row.js';
import { isWord } from './word.js';

/** Columns that a task takes from a changed calendar. */
const CHANGED = [
  'calendar_version',
  'former_json',
  'next_trigger_time',
  'hold_until',
  'version',
  'updated_at',
] as const;
const MAX_NAMED = 5;

export class SqlCalendarRepo implements CalendarRepo {
  private readonly mapper = new TaskMapper();

  constructor(private readonly db: SqlDb) {}

  async insert(definition: CalendarDefinition, audit: (calendar: Calendar) => AuditEntry): Promise<Calendar> {
    const { name } = definition;
    return this.db.transaction(async (sql) => {
      const last = await lockCalendar(sql, name);
      if (last?.isDeleted === false) throw exists(name);
      const calendar = { ...definition, version: (last?.version ?? 0) + 1 };
      try {
        await this.write(sql, calendar, last === null);
      } catch (error) {
        throw sql.isDuplicate(error) ? exists(name) : error;
      }
      await appendAudit(sql, audit(calendar));
      return calendar;
    });
  }

  async find(name: string): Promise<Calendar | null> {
    if (!isWord(name)) return null;
    const [row] = await this.db.read((sql) => sql.rows<VersionRow>(`${CURRENT} AND c.name = ?`, [name]));
    return row === undefined ? null : calendarOfRow(row);
  }

  async list(page: PageRequest): Promise<Page<{ readonly calendar: Calendar; readonly tasks: number }>> {
    const after = cursorOf(page) ?? '';
    return this.db.read(async (sql) => {
      const rows = await sql.rows<VersionRow & { readonly tasks: number }>(
        `SELECT v.*, (SELECT COUNT(*) FROM task_meta t WHERE t.calendar = v.name) AS tasks FROM (${CURRENT}) v
         WHERE v.name > ? ORDER BY v.name LIMIT ? OFFSET ?`,
        [after, rowsToRead(page), page.offset],
      );
      const items = rows.map((row) => ({ calendar: calendarOfRow(row), tasks: row.tasks }));
      return pageOf(items, page, ({ calendar }) => calendar.name);
    });
  }

  async ends(limit: number): Promise<CalendarEnd[]> {
    return this.db.read((sql) =>
      sql.rows<CalendarEnd>(
        `SELECT name, known_until AS knownUntil, (SELECT COUNT(*) FROM task_meta t WHERE t.calendar = c.name) AS tasks
         FROM calendar c WHERE is_deleted = 0 AND known_until IS NOT NULL ORDER BY known_until, name LIMIT ?`,
        [limit],
      ),
    );
  }

  async update(
    name: string,
    expectedVersion: number | null,
    change: Parameters<CalendarRepo['update']>[2],
  ): Promise<Calendar> {
    return this.db.transaction(async (sql) => {
      const current = await this.lock(sql, name, expectedVersion);
      const rows = await sql.rows<TaskRow>(
        `SELECT ${TASK_COLUMNS.join(', ')} FROM task_meta ${sql.dialect.useIndex('task_meta_calendar')}
         WHERE calendar = ? ORDER BY id ${sql.dialect.forUpdate}`,
        [name],
      );
      const changed: CalendarChange = change(current, await this.mapper.fromRows(sql, rows));
      await this.write(sql, changed.calendar, false);
      await replan(sql, changed.tasks);
      await appendAudit(sql, ...changed.audit);
      return changed.calendar;
    });
  }

  async delete(
    name: string,
    expectedVersion: number | null,
    audit: (current: Calendar) => AuditEntry,
  ): Promise<void> {
    await this.db.transaction(async (sql) => {
      const current = await this.lock(sql, name, expectedVersion);
      const users = await sql.rows<{ id: string }>(
        `SELECT id FROM task_meta ${sql.dialect.useIndex('task_meta_calendar')} WHERE calendar = ? ORDER BY id LIMIT ?`,
        [name, MAX_NAMED + 1],
      );
      if (users.length > 0) throw inUse(name, users);
      await sql.run('UPDATE calendar SET is_deleted = 1, updated_at = ? WHERE name = ?', [
        sql.dialect.instant(this.db.clock.now()) as string | number,
        name,
      ]);
      await appendAudit(sql, audit(current));
    });
  }

  private async lock(sql: Statements, name: string, expectedVersion: number | null): Promise<Calendar> {
    const current = isWord(name) ? await lockCalendar(sql, name) : null;
    if (current === null || current.isDeleted) throw new AxError('not_found', `there is no calendar ${name}`);
    if (expectedVersion !== null && expectedVersion !== current.version) {
      const versions = `it is at version ${current.version}, not ${expectedVersion}`;
      throw new AxError('version_conflict', `calendar ${name} was changed meanwhile: ${versions}`);
    }
    const [row] = await sql.rows<VersionRow>(
      'SELECT name, version, body_json FROM calendar_version WHERE name = ? AND version = ?',
      [name, current.version],
    );
    return calendarOfRow(row ?? { name, version: current.version, body_json: '' });
  }

  private async write(sql: Statements, { name, version, ...body }: Calendar, isNew: boolean): Promise<void> {
    const row = [version, 0, body.knownUntil, sql.dialect.instant(this.db.clock.now())];
    if (isNew)
      await sql.insert(
        'calendar',
        ['version', 'is_deleted', 'known_until', 'updated_at', 'name'],
        [[...row, name]],
      );
    else
      await sql.run(
        'UPDATE calendar SET version = ?, is_deleted = ?, known_until = ?, updated_at = ? WHERE name = ?',
        [...row, name] as string[],
      );
    const columns = ['name', 'version', 'body_json'];
    await sql.insert('calendar_version', columns, [[name, version, JSON.stringify(body)]]);
  }
}

/** Whole rows, of which the keys exist and are locked. */
async function replan(sql: Statements, tasks: readonly Task[]): Promise<void> {
  const rows = tasks.map((task) => ({ ...taskRow(task, sql.dialect), hold_until: null }));
  const [first] = rows;
  if (first === undefined) return;
  const assignments = CHANGED.map((column) => `${column} = ${sql.dialect.incoming(column)}`).join(', ');
  await sql.insert(
    'task_meta',
    Object.keys(first),
    rows.map((row) => Object.values(row)),
    `${sql.dialect.orUpdate('id')} ${assignments}`,
  );
}

const exists = (name: string): AxError =>
  new AxError('already_exists', `there is a calendar ${name} already`);

function inUse(name: string, users: readonly { readonly id: string }[]): AxError {
  const named = users
    .slice(0, MAX_NAMED)
    .map(({ id }) => id)
    .join(', ');
  const more = users.length > MAX_NAMED ? ' and others' : '';
  return new AxError('conflict', `calendar ${name} is used by the tasks ${named}${more}; change those first`);
}
