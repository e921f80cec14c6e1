import { type Execution, type ExecutionReport, type LedgerEntry, type Status } from '../domain/execution.js';
import { type BrokenTask, type Task } from '../domain/task.js';
import { type Page, type PageRequest } from './task-repo.js';

export interface ExecutionFilter {
  readonly taskId?: string;
  readonly status?: Status;
}

/** An execution that has not ended, with its task as it is now (null: deleted). */
export interface UnsettledExecution {
  readonly execution: Execution;
  readonly task: Task | BrokenTask | null;
  /** Last report, or the adoption, epoch ms. */
  readonly updatedAt: number;
}

/**
 * What became of trigger events, and the ledger. Throws AxError `unavailable` when the store cannot be reached.
 */
export interface ExecutionRepo {
  /**
   * Applies reports in one transaction: the state with the highest progress wins (see `progressOf`), a terminal status is never
   * overwritten, each ledger entry is kept once. Idempotent and free of order, also between concurrent callers. Reports of unknown
   * events are kept, too.
   */
  apply(reports: readonly ExecutionReport[]): Promise<void>;
  /** With its ledger in order of time, from `triggered` on. */
  find(
    id: string,
  ): Promise<{ readonly execution: Execution; readonly ledger: readonly LedgerEntry[] } | null>;
  /** Newest first. */
  list(filter: ExecutionFilter, page: PageRequest): Promise<Page<Execution>>;
  /**
   * Gives every event that was recorded before `recordedBefore` (epoch ms) and has no state yet the state `pending`, so that
   * `unsettled` shows it. Reads each event about once however many there are.
   */
  adoptPending(recordedBefore: number): Promise<number>;
  /** Executions not in a terminal status whose last report is older than `updatedBefore`, in order of id after `afterId`. */
  unsettled(request: {
    readonly updatedBefore: number;
    readonly afterId: string | null;
    readonly limit: number;
  }): Promise<UnsettledExecution[]>;
}
