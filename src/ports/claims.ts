import { type ExecutionReport } from '../domain/execution.js';
import { type SlotKey } from '../domain/trigger.js';
import { type Delivery } from './queue.js';

/** The right to run one event, held by one worker and kept alive by renewal. */
export interface Claim extends SlotKey {
  readonly executionId: string;
  readonly pool: string;
  readonly worker: string;
  /** Grows with every claim of the same event; a report with an older one is refused. */
  readonly generation: number;
  /** The delivery that the claim finishes. */
  readonly handle: string;
}

/**
 * - `claimed`: run it; `isSaturated` says that the task already runs `max_concurrent` times, so this one holds no running mark;
 * - `held`: a live worker holds it, this delivery is another copy or came too early; leave it alone;
 * - `finished`: it was finished before; this delivery is gone now.
 */
export type ClaimAnswer =
  | {
      readonly outcome: 'claimed';
      readonly claim: Claim;
      readonly isSaturated: boolean;
      readonly previous: PreviousClaim | null;
    }
  | { readonly outcome: 'held' }
  | { readonly outcome: 'finished' };

/** What an earlier claim of the same event left behind. */
export interface PreviousClaim {
  readonly worker: string;
  readonly generation: number;
  /** Highest attempt that was reported started; 0 if none. */
  readonly attempt: number;
  /** Attempts that were reported failed. */
  readonly failures: number;
  /** It was handed back between attempts, so nothing was running when the claim ended. */
  readonly isHandedBack: boolean;
}

/** Attempt counts kept with the claim for the next worker. */
export interface ClaimProgress {
  readonly attempt: number;
  readonly failures: number;
}

/**
 * Claims on events, running marks per task, and reports, each call atomic. A claim lives `ttlMs` from its last renewal by the store's
 * clock; its running mark lives and dies with it. All calls throw AxError `unavailable` when the store cannot be reached; then the
 * call may or may not have taken effect, and repeating it is safe.
 */
export interface Claims {
  /**
   * Claims a delivered event. Of any number of concurrent claims of one event exactly one is `claimed`; over the whole cluster at
   * most `maxConcurrent` claims of one task are not saturated. Repeated by the same worker while its claim lives: `held`.
   * A first claim (no previous one, not saturated) queues `begun` in the same step and counts attempt 1 as begun, so that no run begins
   * without a trace; its generation must be the message's floor + 1. Any other claim leaves `begun` unused.
   */
  claim(delivery: Delivery, worker: string, ttlMs: number, begun?: ExecutionReport): Promise<ClaimAnswer>;
  /**
   * Prolongs claims, in the order given: false = lost to another generation or finished, stop the run. A claim that the store has lost
   * altogether (it came back empty) is asserted again.
   */
  renew(claims: readonly Claim[], ttlMs: number): Promise<boolean[]>;
  /** Queues a report and keeps `progress`, unless the claim was lost: then false and nothing is queued. */
  report(claim: Claim, report: ExecutionReport, progress: ClaimProgress): Promise<boolean>;
  /**
   * Queues the final report, ends the message, the claim and the running mark, and remembers the event as finished. False when the
   * claim was lost: nothing is queued. True again when this claim had finished it already, without a second report.
   */
  finish(claim: Claim, report: ExecutionReport): Promise<boolean>;
  /**
   * Ends the claim, its mark and its message, queues the report and forgets the run: the queue knows nothing of it any more, so only
   * recovery, which reads the store, can bring it back. False when the claim was lost.
   */
  abandon(claim: Claim, report: ExecutionReport): Promise<boolean>;
  /**
   * Ends the claim and its mark and puts the message back for others to take at once, with exactly this `progress`: attempt 0 says that
   * nothing began. False when it was lost.
   */
  handBack(claim: Claim, report: ExecutionReport, progress: ClaimProgress): Promise<boolean>;
}
