import { type ExecutionReport } from '../domain/execution.js';
import { type BrokenTask, type Task } from '../domain/task.js';
import { type TriggerEvent } from '../domain/trigger.js';
import { type AuditEntry } from './audit.js';

/** What the tick decided for a batch of due tasks. */
export interface DecidedBatch {
  /** Events to fire. */
  readonly fired: readonly { readonly event: TriggerEvent; readonly task: Task }[];
  /** Slots or ranges that do not run: their event and their terminal report. */
  readonly skipped: readonly { readonly event: TriggerEvent; readonly report: ExecutionReport }[];
  /** New cursors; `holdUntil` (epoch ms) keeps a task that is due before from being read until then. */
  readonly advances: readonly {
    readonly taskId: string;
    readonly nextSlot: number | null;
    readonly holdUntil: number | null;
  }[];
  /** Tasks that could not be decided; they keep their cursor and are read again after `holdUntil`. */
  readonly errors: readonly { readonly taskId: string; readonly error: string; readonly holdUntil: number }[];
}

export interface TriggerOutcome {
  /** Members of `fired` that this call recorded, in order: publish exactly these. */
  readonly recorded: DecidedBatch['fired'];
  /** Events that were refused because their slot had been recorded before; the cursor moved on all the same. */
  readonly duplicates: readonly TriggerEvent[];
  /** Due rows read. */
  readonly dueCount: number;
}

/**
 * The tick's and the manual run's conversation with the store. At most one event per (task, kind, slot) ever exists, whatever
 * locks were lost. Throws AxError `unavailable` when the store cannot be reached, after bounded retries of deadlocks.
 */
export interface TriggerRepo {
  /**
   * In one transaction: reads up to `limit` rows that are enabled, due at `now` and not held back, oldest first, skipping rows that
   * another transaction holds; lets `decide` (pure) decide them; records events and skips in one statement each; advances all
   * cursors in one statement. `decide` is not called when nothing is due. `mayCommit` is asked right before the commit; when it says
   * no, all is rolled back. An error anywhere rolls all back; then the same slots are due again.
   */
  decideDue(
    request: { readonly now: number; readonly limit: number; readonly mayCommit: () => boolean },
    decide: (due: readonly (Task | BrokenTask)[]) => DecidedBatch,
  ): Promise<TriggerOutcome>;
  /** Earliest instant, epoch ms, at which an enabled task is due and not held back; null if there is none. */
  nextDueAt(): Promise<number | null>;
  /** Enabled tasks due at `now`, also those held back: the backlog. */
  countDue(now: number): Promise<number>;
  /**
   * Records a manual event with its audit entry in one transaction. The same `runKey` for the same task again: the first event, and
   * nothing is recorded. A taken (task, manual, slot) gets the next free millisecond as its slot.
   * @throws AxError `not_found` if the task is gone.
   */
  recordManual(
    event: TriggerEvent,
    runKey: string | null,
    audit: AuditEntry,
  ): Promise<{ readonly event: TriggerEvent; readonly isNew: boolean }>;
}
