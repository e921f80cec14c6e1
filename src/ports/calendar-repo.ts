import { type Calendar, type CalendarDefinition } from '../domain/calendar.js';
import { type BrokenTask, type Task } from '../domain/task.js';
import { type AuditEntry } from './audit.js';
import { type Page, type PageRequest } from './task-repo.js';

/** When the known days of a calendar end, `YYYY-MM-DD`, and how many tasks use it. */
export interface CalendarEnd {
  readonly name: string;
  readonly knownUntil: string;
  readonly tasks: number;
}

/** What an edit of a calendar stores; `tasks` are those of its users that change with it. */
export interface CalendarChange {
  readonly calendar: Calendar;
  readonly tasks: readonly Task[];
  readonly audit: readonly AuditEntry[];
}

/**
 * Calendars and their versions; a version that was stored once is never changed nor removed. Every change is one transaction with its
 * audit entries. A task whose schedule uses another version than the current one cannot be stored, so nobody uses an old one.
 * Throws AxError `unavailable` when the store cannot be reached; then nothing was changed, or the whole change was.
 */
export interface CalendarRepo {
  /** Its version is 1, or the one after that of a deleted calendar of this name. @throws AxError `already_exists`. */
  insert(definition: CalendarDefinition, audit: (calendar: Calendar) => AuditEntry): Promise<Calendar>;
  find(name: string): Promise<Calendar | null>;
  /** In the order of names, each with the number of tasks that use it. */
  list(page: PageRequest): Promise<Page<{ readonly calendar: Calendar; readonly tasks: number }>>;
  /** Calendars that run out, the first to do so before the others; at most `limit`. */
  ends(limit: number): Promise<CalendarEnd[]>;
  /**
   * Reads the calendar and all tasks that use it under locks, lets `change` (pure) make the next version and the tasks with it, and stores
   * all of it or, when `change` or anything else fails, nothing.
   * @throws AxError `not_found`; `version_conflict` if `expectedVersion` is given and is not the stored one; what `change` throws.
   */
  update(
    name: string,
    expectedVersion: number | null,
    change: (current: Calendar, users: readonly (Task | BrokenTask)[]) => CalendarChange,
  ): Promise<Calendar>;
  /** @throws as `update`; AxError `conflict` while a task uses it. */
  delete(
    name: string,
    expectedVersion: number | null,
    audit: (current: Calendar) => AuditEntry,
  ): Promise<void>;
}
