import { cursorOf, pageOf } from '../../../src/adapters/sql/keyset-page.js';
import { type Calendar, type CalendarDefinition } from '../../../src/domain/calendar.js';
import { AxError } from '../../../src/domain/errors.js';
import { type Task } from '../../../src/domain/task.js';
import { type AuditEntry } from '../../../src/ports/audit.js';
import { type CalendarEnd, type CalendarRepo } from '../../../src/ports/calendar-repo.js';
import { type Page, type PageRequest } from '../../../src/ports/task-repo.js';
import { type MemoryDb, type StoredCalendar } from './memory-db.js';
import { shown } from './memory-task-repo.js';

export class MemoryCalendarRepo implements CalendarRepo {
  constructor(private readonly db: MemoryDb) {}

  async insert(definition: CalendarDefinition, audit: (calendar: Calendar) => AuditEntry): Promise<Calendar> {
    const { name } = definition;
    const stored = this.db.calendars.get(name);
    return this.db.transaction((tx) => {
      if (stored?.isDeleted === false)
        throw new AxError('already_exists', `there is a calendar ${name} already`);
      const calendar = { ...definition, version: (stored?.calendar.version ?? 0) + 1 };
      tx.set(this.db.calendars, name, { calendar, isDeleted: false });
      tx.audit(audit(calendar));
      return calendar;
    });
  }

  async find(name: string): Promise<Calendar | null> {
    return this.stored().find(({ calendar }) => calendar.name === name)?.calendar ?? null;
  }

  async list(page: PageRequest): Promise<Page<{ readonly calendar: Calendar; readonly tasks: number }>> {
    const after = cursorOf(page) ?? '';
    const found = this.stored()
      .map(({ calendar }) => ({ calendar, tasks: this.users(calendar.name).length }))
      .filter(({ calendar }) => calendar.name > after)
      .sort((a, b) => (a.calendar.name < b.calendar.name ? -1 : 1));
    return pageOf(found.slice(page.offset), page, ({ calendar }) => calendar.name);
  }

  async ends(limit: number): Promise<CalendarEnd[]> {
    const ends = this.stored().flatMap(({ calendar: { name, knownUntil } }) =>
      knownUntil === null ? [] : [{ name, knownUntil, tasks: this.users(name).length }],
    );
    const keyOf = ({ name, knownUntil }: CalendarEnd) => `${knownUntil} ${name}`;
    return ends.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, limit);
  }

  async update(
    name: string,
    expectedVersion: number | null,
    change: Parameters<CalendarRepo['update']>[2],
  ): Promise<Calendar> {
    for (const { id } of this.users(name)) await this.db.untilFree(id);
    return this.db.transaction((tx) => {
      const current = this.current(name, expectedVersion);
      const { calendar, tasks, audit } = change(
        current,
        this.users(name).map((task) => shown({ task, holdUntil: null, spoilt: null })),
      );
      tx.statement('INSERT INTO calendar_version');
      tx.set(this.db.calendars, name, { calendar, isDeleted: false });
      for (const task of tasks) tx.set(this.db.tasks, task.id, { task, holdUntil: null, spoilt: null });
      for (const entry of audit) tx.audit(entry);
      return calendar;
    });
  }

  async delete(
    name: string,
    expectedVersion: number | null,
    audit: (current: Calendar) => AuditEntry,
  ): Promise<void> {
    this.db.transaction((tx) => {
      const calendar = this.current(name, expectedVersion);
      const users = this.users(name).map(({ id }) => id);
      if (users.length > 0)
        throw new AxError('conflict', `calendar ${name} is used by the tasks ${users.join(', ')}`);
      tx.set(this.db.calendars, name, { calendar, isDeleted: true });
      tx.audit(audit(calendar));
    });
  }

  private stored(): StoredCalendar[] {
    return [...this.db.calendars.values()].filter(({ isDeleted }) => !isDeleted);
  }

  private users(name: string): Task[] {
    return [...this.db.tasks.values()]
      .map(({ task }) => task)
      .filter(({ schedule }) => schedule.type === 'cron' && schedule.calendar?.days.calendar.name === name)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  private current(name: string, expectedVersion: number | null): Calendar {
    const calendar = this.stored().find((stored) => stored.calendar.name === name)?.calendar;
    if (calendar === undefined) throw new AxError('not_found', `there is no calendar ${name}`);
    if (expectedVersion === null || expectedVersion === calendar.version) return calendar;
    throw new AxError('version_conflict', `calendar ${name} is at version ${calendar.version}`);
  }
}
