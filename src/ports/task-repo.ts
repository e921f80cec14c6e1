import { type BrokenTask, type Task } from '../domain/task.js';
import { type AuditEntry } from './audit.js';

export interface TaskFilter {
  readonly group?: string;
  readonly owner?: string;
  readonly isEnabled?: boolean;
  /** Label that must be present with this value. */
  readonly label?: { readonly key: string; readonly value: string };
  /** Part of id or name, any case. */
  readonly text?: string;
}

/** `cursor` goes on after the last item of an earlier page; `offset` skips that many instead. */
export interface PageRequest {
  readonly size: number;
  readonly cursor: string | null;
  readonly offset: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/** How many enabled tasks need a worker of this pool that runs this type of executor. */
export interface PoolDemand {
  readonly pool: string;
  readonly executor: string;
  readonly tasks: number;
}

/**
 * Task definitions. Every change is one transaction with its audit entry, serialised with the tick on the same row.
 * Throws AxError `unavailable` when the store cannot be reached; then nothing was changed, or the whole change was.
 */
export interface TaskRepo {
  /** @throws AxError `already_exists` if the id is taken. */
  insert(task: Task, audit: AuditEntry): Promise<void>;
  find(id: string): Promise<Task | BrokenTask | null>;
  /** In the order of ids. */
  list(filter: TaskFilter, page: PageRequest): Promise<Page<Task | BrokenTask>>;
  /** What enabled tasks need of the workers, from the greatest demand to the least; the `limit` greatest. */
  demand(limit: number): Promise<PoolDemand[]>;
  /**
   * Reads the row under a lock, lets `change` make the new task from it and stores that. Errors of `change` pass through and nothing is
   * stored. `change` gets the cursor as of the lock, so a concurrent tick is never undone. Without an `audit` entry there is no change: its
   * `task` is returned and nothing is stored.
   * @throws AxError `not_found`; `version_conflict` if `expectedVersion` is given and is not the stored one.
   */
  update(
    id: string,
    expectedVersion: number | null,
    change: (current: Task | BrokenTask) => { readonly task: Task; readonly audit: AuditEntry | null },
  ): Promise<Task>;
  /** Executions of the task stay. @throws as `update`. */
  delete(
    id: string,
    expectedVersion: number | null,
    audit: (current: Task | BrokenTask) => AuditEntry,
  ): Promise<void>;
}
