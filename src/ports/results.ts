import { type ExecutionReport } from '../domain/execution.js';

export interface ResultBatch {
  readonly reports: readonly ExecutionReport[];
  /** The adapter's own. */
  readonly handles: readonly string[];
}

/**
 * Reports on their way from workers to the execution store: at least once, in no promised order. A batch that was taken and not
 * acknowledged for `reclaimAfterMs` goes to another taker. All calls throw AxError `unavailable` when the store cannot be reached.
 */
export interface Results {
  /** Up to `max` reports; waits up to `waitMs` for the first; returns early when `signal` aborts. Undecodable ones are dropped through `onPoison`. */
  take(request: {
    readonly taker: string;
    readonly max: number;
    readonly waitMs: number;
    readonly reclaimAfterMs: number;
    readonly signal: AbortSignal;
    readonly onPoison: (handle: string, error: unknown) => void;
  }): Promise<ResultBatch>;
  /** Forgets the reports of a batch. Idempotent. */
  acknowledge(batch: ResultBatch): Promise<void>;
  /** Reports not yet acknowledged: how many, and how long the oldest has waited (0 when there is none). */
  backlog(): Promise<{ readonly depth: number; readonly oldestAgeMs: number }>;
}
