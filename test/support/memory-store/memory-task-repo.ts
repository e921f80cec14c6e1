import { sqliteDialect } from '../../../src/adapters/embedded/sqlite-dialect.js';
import { cursorOf, pageOf } from '../../../src/adapters/sql/keyset-page.js';
import { type KnownCalendars } from '../../../src/adapters/sql/stored-calendars.js';
import { TaskMapper } from '../../../src/adapters/sql/task-mapper.js';
import { taskRow } from '../../../src/adapters/sql/task-row.js';
import { AxError } from '../../../src/domain/errors.js';
import { type BrokenTask, type Task } from '../../../src/domain/task.js';
import { type AuditEntry } from '../../../src/ports/audit.js';
import {
  type Page,
  type PageRequest,
  type PoolDemand,
  type TaskFilter,
  type TaskRepo,
} from '../../../src/ports/task-repo.js';
import { type MemoryDb, type StoredTask } from './memory-db.js';

const mapper = new TaskMapper();

/** The task as ax reads it. */
export const shown = ({ task, spoilt }: StoredTask): Task | BrokenTask =>
  spoilt === null ? task : mapper.fromRow({ ...taskRow(task, sqliteDialect), ...spoilt }, calendarsOf(task));

/** The calendars that the schedules of a task hold. */
export const calendarsOf = (task: Partial<Pick<Task, 'schedule' | 'former'>> | null): KnownCalendars => ({
  find: ({ name, version }) =>
    [task?.schedule, ...(task?.former ?? []).map(({ schedule }) => schedule)]
      .map((schedule) => (schedule?.type === 'cron' ? schedule.calendar?.days : undefined))
      .find((days) => days?.calendar.name === name && days.calendar.version === version),
});

export class MemoryTaskRepo implements TaskRepo {
  constructor(private readonly db: MemoryDb) {}

  async insert(task: Task, audit: AuditEntry): Promise<void> {
    this.db.transaction((tx) => {
      if (this.db.tasks.has(task.id))
        throw new AxError('already_exists', `there is a task ${task.id} already`);
      this.assertCurrentCalendar(task);
      tx.set(this.db.tasks, task.id, { task, holdUntil: null, spoilt: null });
      tx.audit(audit);
    });
  }

  async find(id: string): Promise<Task | BrokenTask | null> {
    const stored = this.db.tasks.get(id);
    return stored === undefined ? null : shown(stored);
  }

  async list(filter: TaskFilter, page: PageRequest): Promise<Page<Task | BrokenTask>> {
    const after = cursorOf(page) ?? '';
    const found = [...this.db.tasks.values()]
      .filter((stored) => stored.task.id > after && isWanted(stored, filter))
      .sort((a, b) => (a.task.id < b.task.id ? -1 : 1));
    return pageOf(found.slice(page.offset).map(shown), page, ({ id }) => id);
  }

  async demand(limit: number): Promise<PoolDemand[]> {
    const demand = new Map<string, PoolDemand>();
    for (const { task } of this.db.tasks.values()) {
      if (!task.isEnabled) continue;
      const { pool, executor } = { pool: task.pool, executor: task.executor.type };
      const lane = `${pool} ${executor}`;
      demand.set(lane, { pool, executor, tasks: (demand.get(lane)?.tasks ?? 0) + 1 });
    }
    const nameOf = ({ pool, executor }: PoolDemand) => `${pool} ${executor}`;
    return [...demand.values()]
      .sort((a, b) => b.tasks - a.tasks || (nameOf(a) < nameOf(b) ? -1 : 1))
      .slice(0, limit);
  }

  async update(
    id: string,
    expectedVersion: number | null,
    change: (current: Task | BrokenTask) => { readonly task: Task; readonly audit: AuditEntry | null },
  ): Promise<Task> {
    await this.db.untilFree(id);
    return this.db.transaction((tx) => {
      const { task, audit } = change(this.current(id, expectedVersion));
      if (audit === null) return task;
      this.assertCurrentCalendar(task);
      tx.set(this.db.tasks, id, { task, holdUntil: null, spoilt: null });
      tx.audit(audit);
      return task;
    });
  }

  async delete(
    id: string,
    expectedVersion: number | null,
    audit: (current: Task | BrokenTask) => AuditEntry,
  ): Promise<void> {
    await this.db.untilFree(id);
    this.db.transaction((tx) => {
      const entry = audit(this.current(id, expectedVersion));
      tx.delete(this.db.tasks, id);
      tx.audit(entry);
    });
  }

  private assertCurrentCalendar({ schedule }: Task): void {
    if (schedule.type !== 'cron' || schedule.calendar === null) return;
    const { name, version } = schedule.calendar.days.calendar;
    const stored = this.db.calendars.get(name);
    if (stored?.isDeleted !== false || stored.calendar.version !== version)
      throw new AxError('conflict', `calendar ${name} was changed meanwhile`);
  }

  private current(id: string, expectedVersion: number | null): Task | BrokenTask {
    const stored = this.db.tasks.get(id);
    if (stored === undefined) throw new AxError('not_found', `there is no task ${id}`);
    const { version } = stored.task;
    if (expectedVersion === null || expectedVersion === version) return shown(stored);
    throw new AxError('version_conflict', `task ${id} is at version ${version}, not ${expectedVersion}`);
  }
}

function isWanted(
  { task, spoilt }: StoredTask,
  { group, owner, isEnabled, label, text }: TaskFilter,
): boolean {
  const hasLabel = (key: string) => spoilt === null && Object.hasOwn(task.labels, key);
  return (
    (group === undefined || task.group === group) &&
    (owner === undefined || task.owner === owner) &&
    (isEnabled === undefined || task.isEnabled === isEnabled) &&
    (label === undefined || (hasLabel(label.key) && task.labels[label.key] === label.value)) &&
    (text === undefined ||
      [task.id, task.name].some((field) => field.toLowerCase().includes(text.toLowerCase())))
  );
}
