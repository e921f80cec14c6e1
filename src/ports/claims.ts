import { type ExecutionReport } from '../domain/execution.js';
import { type SlotKey } from '../domain/trigger.js';
import { type Delivery } from './queue.js';
import { type StopRequest } from './stops.js';

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
 * - `claimed`: run it. `stop`: it was asked to stop, so end it instead. `isSaturated`: there is no room for it, so end it instead; under
 *   the overlap policy `skip` because the task ran `max_concurrent` times when the run was due, or the run came too late, or too many wait
 *   already, under `queue` because too many wait already, under `replace` because newer runs have taken its place. Neither kind holds a
 *   running mark;
 * - `waiting`: there is no room yet, the message waits in the line of its task and is handed out again when its turn comes;
 * - `held`: a live worker holds it, this delivery is another copy or came too early; leave it alone;
 * - `finished`: it was finished before; this delivery is gone now.
 */
export type ClaimAnswer =
  | {
      readonly outcome: 'claimed';
      readonly claim: Claim;
      readonly isSaturated: boolean;
      readonly stop: StopRequest | null;
      readonly previous: PreviousClaim | null;
    }
  | { readonly outcome: 'waiting' }
  | { readonly outcome: 'held' }
  | { readonly outcome: 'finished' };

/** What an earlier claim of the same event left behind. */
export interface PreviousClaim extends ClaimProgress {
  readonly worker: string;
  readonly generation: number;
  /** It was handed back between attempts, so nothing was running when the claim ended. */
  readonly isHandedBack: boolean;
}

/** How far a run got, kept for the next worker. */
export interface ClaimProgress {
  /** Highest attempt that was reported started; 0 if none. */
  readonly attempt: number;
  /** Attempts that were reported failed. */
  readonly failures: number;
  /**
   * Until when the receipt of the latest attempt is awaited, epoch ms: it was delivered to its target, so go on waiting instead of running
   * it again. Null: it is not.
   */
  readonly receiptUntil: number | null;
  /** Planned instant of the attempt after the latest one, epoch ms: that one is not made before. Null: none is planned. */
  readonly retryAt: number | null;
}

/** What may be reported in the step of a claim, and how long a line may get. */
export interface ClaimTerms {
  /**
   * Queued by a first claim (no previous one, not saturated, no stop), which then counts attempt 1 as begun, so that no run begins
   * without a trace. Its generation must be the message's floor + 1.
   */
  readonly begun?: ExecutionReport;
  /** Made and queued when the run joins the line of its task. */
  readonly waiting?: () => ExecutionReport;
  /** Most runs of the task that wait at a time; runs that were claimed before are let in nevertheless. */
  readonly maxWaiting?: number;
}

export const DEFAULT_MAX_WAITING = 100;

/** `cancelled` and `replaced`: alive, and asked to stop. */
export type RenewAnswer = 'alive' | 'lost' | StopRequest;

/**
 * Claims on events, running marks and lines per task, and reports, each call atomic. A claim lives `ttlMs` from its last renewal by the
 * store's clock; its running mark lives and dies with it, but for a run whose receipt is awaited: its target
 * works on without any worker, so its mark lives until `receiptUntil`; and for one that is handed back. Whoever claims a run with a
 * living mark finds its place kept. All calls throw AxError `unavailable` when the store cannot be reached; then the call may or may not
 * have taken effect, and repeating it is safe.
 *
 * A task has a line of runs that wait, in the order of slot and id. Whatever frees a mark (an end of a claim by any call, its death as
 * soon as another call sees it) hands out as many messages of the head of the line as there is room. They keep their places until they are
 * claimed, so no later slot overtakes them; a stop or an end takes a run out of the line.
 * Under the overlap policy `skip` a run joins it only if ax itself has brought it and others into each other's way: of the marks that are
 * held fewer than `max_concurrent` were taken before it was due (`windowStart`), and its claim comes before `joinsUntil`, both by the
 * store's clock. A mark counts from the claim that took it, also while a receipt is awaited and others claim the run meanwhile; that of a
 * claim which the store had lost counts as older than any run.
 * Under `replace` only the newest `max_concurrent` runs of a task, by id, are kept: a claim asks the older ones to stop.
 */
export interface Claims {
  /**
   * Claims a delivered event. Of any number of concurrent claims of one event exactly one is `claimed`; over the whole cluster at
   * most `maxConcurrent` claims of one task hold a running mark. Repeated by the same worker while its claim lives: `held`.
   */
  claim(delivery: Delivery, worker: string, ttlMs: number, terms?: ClaimTerms): Promise<ClaimAnswer>;
  /**
   * Prolongs claims, in the order given: `lost` to another generation or finished, stop the run. A claim that the store has lost
   * altogether (it came back empty) is asserted again.
   */
  renew(claims: readonly Claim[], ttlMs: number): Promise<RenewAnswer[]>;
  /**
   * Queues a report and keeps `progress`, unless the claim was lost: then false and nothing is queued. Counts never go back;
   * `receiptUntil` and `retryAt` are taken from a report of the attempt that is kept or of a later one.
   */
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
   * Ends the claim and puts the message back for others to take at once, with exactly this `progress`: attempt 0 says that nothing began,
   * and ends its mark too. A run that has begun keeps that until the claim would have ended, its receipt is awaited no more and its next
   * attempt is due. False when it was lost.
   */
  handBack(claim: Claim, report: ExecutionReport, progress: ClaimProgress): Promise<boolean>;
}
