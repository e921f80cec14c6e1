import { AxError } from '../../domain/errors.js';
import { type Task } from '../../domain/task.js';
import { calendarOf, type VersionRow } from './stored-calendars.js';
import { type Calendar } from '../../domain/calendar.js';
import { type Statements } from './sql-db.js';

/** The current version of a calendar. */
export const CURRENT = `SELECT v.name, v.version, v.body_json FROM calendar c
  JOIN calendar_version v ON v.name = c.name AND v.version = c.version WHERE c.is_deleted = 0`;

/** @throws AxError `corrupt_row` if somebody has spoilt it. */
export function calendarOfRow(row: VersionRow): Calendar {
  const calendar = calendarOf(row);
  if (calendar !== null) return calendar;
  throw new AxError('corrupt_row', `version ${row.version} of calendar ${row.name} is none any more`);
}

/** Reads the version and the fate of a calendar under a lock, which holds off its edits and the tasks that begin to use it. */
export async function lockCalendar(
  sql: Statements,
  name: string,
): Promise<{ readonly version: number; readonly isDeleted: boolean } | null> {
  const [row] = await sql.rows<{ version: number; is_deleted: number }>(
    `SELECT version, is_deleted FROM calendar WHERE name = ? ${sql.dialect.forUpdate}`,
    [name],
  );
  return row === undefined ? null : { version: row.version, isDeleted: row.is_deleted === 1 };
}

/**
 * Before a task is written: the version of the calendar that it was planned with is still the current one.
 * @throws AxError `conflict`.
 */
export async function assertCurrentCalendar(sql: Statements, { schedule }: Task): Promise<void> {
  if (schedule.type !== 'cron' || schedule.calendar === null) return;
  const { name, version } = schedule.calendar.days.calendar;
  const current = await lockCalendar(sql, name);
  if (current !== null && !current.isDeleted && current.version === version) return;
  throw new AxError('conflict', `calendar ${name} was changed meanwhile; send the same request again`);
}
