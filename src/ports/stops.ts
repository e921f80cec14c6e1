import { type ExecutionReport } from '../domain/execution.js';
import { type SlotKey } from '../domain/trigger.js';
import { type StopReason } from './executor.js';

/** Why a run is asked to stop by somebody else than its worker. */
export type StopRequest = Extract<StopReason, 'cancelled' | 'replaced'>;

/**
 * - `requested`: a live claim runs it; its worker learns of it at once or with its next renewal, and ends it;
 * - `ended`: nobody runs it and nobody will; the verdict is queued as a report;
 * - `finished`: it had finished before; nothing was done.
 */
export type CancelAnswer = 'requested' | 'ended' | 'finished';

/** The final reports of a run that nobody runs, of which the one that is true is queued. */
export interface CancelVerdicts {
  /** No attempt began. */
  readonly unbegun: ExecutionReport;
  /** One may have begun. */
  readonly begun: ExecutionReport;
}

/**
 * Stops of runs, wherever they are. A run is asked to stop once: the first reason is kept until the run ends, over all its claims.
 * Each call is atomic and throws AxError `unavailable` when the store cannot be reached; then it may or may not have taken effect, and
 * repeating it is safe.
 */
export interface Stops {
  /**
   * Cancels a run. One that the queue does not know counts as one that nobody runs, and is remembered as finished, so that a message that
   * is published later runs nothing. Of a cancel and a finish at the same time exactly one ends the run.
   */
  cancel(run: SlotKey & { readonly executionId: string }, verdicts: CancelVerdicts): Promise<CancelAnswer>;
  /** Calls `listener` when a run is asked to stop, in every process, until the returned function is called. Best effort: renewals tell, too. */
  subscribe(listener: (executionId: string, reason: StopRequest) => void): () => void;
}
