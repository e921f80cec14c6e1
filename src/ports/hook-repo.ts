import { type Execution, type LedgerEntry } from '../domain/execution.js';
import { type PostHook } from '../domain/hooks.js';
import { type LastOutcome } from './last-outcomes.js';

/** A summary that is owed. */
export interface HookDelivery {
  readonly executionId: string;
  readonly taskId: string;
  /** As they were when the run was triggered. */
  readonly taskName: string;
  readonly group: string;
  /** Null: what is stored is no post-hook. */
  readonly hook: PostHook | null;
  /** Null: the execution is not in the store any more. */
  readonly execution: Execution | null;
  /** Tries that failed. */
  readonly failures: number;
}

/** What one try came to. */
export interface HookTry {
  readonly executionId: string;
  /** For the ledger. */
  readonly entry: LedgerEntry;
  /** Tries that failed, this one included. */
  readonly failures: number;
  /** Epoch ms; null: there is nothing more to do. */
  readonly retryAt: number | null;
}

/**
 * What hooks need of the store. ExecutionRepo.apply and TriggerRepo.decideDue make the deliveries, each in the transaction that ends its
 * execution. Throws AxError `unavailable` when the store cannot be reached.
 */
export interface HookRepo {
  /**
   * Up to `limit` deliveries that are due at `now`, the longest due first. Whoever gets one has it to itself for `leaseMs`: concurrent
   * callers get others. One that is not settled by then is due again.
   */
  lease(request: {
    readonly now: number;
    readonly leaseMs: number;
    readonly limit: number;
  }): Promise<HookDelivery[]>;
  /** Adds a try to the ledger, and ends the delivery or makes it due again, in one transaction. The execution's state is not touched. */
  settle(result: HookTry): Promise<void>;
  /** What came of the newest runs of all tasks that a pre-hook of an enabled task names; tasks that never ran are left out. */
  watchedOutcomes(): Promise<{ readonly taskId: string; readonly outcome: LastOutcome }[]>;
}
