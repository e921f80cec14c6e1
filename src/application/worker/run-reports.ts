import { briefEvidence } from '../../domain/brief-evidence.js';
import {
  type Evidence,
  type ExecutionReport,
  type LedgerKind,
  type Outcome,
  type Status,
  transition,
} from '../../domain/execution.js';
import { type Claim, type ClaimProgress, type PreviousClaim } from '../../ports/claims.js';
import { type QueueMessage } from '../../ports/queue.js';
import { type Receipt } from '../../ports/receipts.js';

/** One try inside an execution, as the ledger keeps it. Instants are epoch ms. */
export interface AttemptResult {
  readonly attempt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly outcome: Outcome;
}

/** What ends a run without an attempt's own outcome. */
export type Verdict = Pick<ExecutionReport, 'reason' | 'message'> & { readonly status: 'fail' | 'skipped' };

const NOTHING_AWAITED = { receiptUntil: null, retryAt: null };

/**
 * Makes the reports of one claimed run. Each one carries the whole state, so that they may arrive in any order; the state machine
 * refuses a report that the run's own history does not allow.
 */
export class RunReports {
  private status: Status = 'pending';
  private seq = 0;
  private attempt: number;
  private startedAt: number | null = null;
  private evidence: Evidence = {};
  private slowAfterSec: number | null = null;

  constructor(
    private readonly claim: Pick<Claim, 'executionId' | 'taskId' | 'generation' | 'worker'>,
    previousAttempt: number,
  ) {
    this.attempt = previousAttempt;
  }

  claimed(at: number, publishedAt: number): ExecutionReport {
    this.startedAt = at;
    const { worker, generation } = this.claim;
    return this.make('running', 'claimed', at, { worker, generation, published_at: publishedAt });
  }

  /** The claim goes on where an earlier one ended, at the instant for which that had planned the next attempt. */
  reclaimed(
    at: number,
    { worker, generation, retryAt }: Pick<PreviousClaim, 'worker' | 'generation' | 'retryAt'>,
  ): ExecutionReport {
    const detail = { previous_worker: worker, previous_generation: generation };
    return retryAt === null
      ? this.make(this.status, 'reclaimed', at, detail)
      : this.make('retrying', 'reclaimed', at, { ...detail, retry_at: retryAt });
  }

  /** The claim goes on waiting for the receipt of an attempt that an earlier claim delivered. */
  resumed(
    at: number,
    previous: { readonly worker: string; readonly generation: number; readonly attempt: number },
  ): ExecutionReport {
    this.startedAt = at;
    return this.make('running', 'resumed', at, {
      attempt: previous.attempt,
      previous_worker: previous.worker,
      previous_generation: previous.generation,
    });
  }

  /** The target took the attempt over; its receipt is awaited until `until`. */
  delivered(at: number, attempt: number, evidence: Evidence, until: number): ExecutionReport {
    this.evidence = evidence;
    return this.make('running', 'delivered', at, { attempt, receipt_until: until, evidence });
  }

  progress(receipt: Receipt, attempt: number): ExecutionReport {
    return this.make('running', 'progress', receipt.at, { attempt, message: receipt.message });
  }

  /** From here on the evidence says so, too. */
  slow(at: number, slowAfterSec: number): ExecutionReport {
    this.slowAfterSec = slowAfterSec;
    return this.make(this.status, 'slow', at, { attempt: this.attempt, slow_after_sec: slowAfterSec });
  }

  /**
   * A check before attempt 1; the execution stays pending. The facts of a failed one are its evidence until something runs. `delayMs`: until
   * the next check; null: there is none.
   */
  prechecked(at: number, number: number, outcome: Outcome, delayMs: number | null): ExecutionReport {
    const { status, reason, message, evidence } = outcome;
    const isPassed = status === 'success';
    this.evidence = isPassed ? {} : evidence;
    const next = delayMs === null ? {} : { delay_ms: delayMs, retry_at: at + delayMs };
    return this.make(
      'pending',
      isPassed ? 'precheck_passed' : 'precheck_failed',
      at,
      { check: number, reason, message, evidence, ...next },
      isPassed ? undefined : { reason: 'precheck', message },
    );
  }

  attemptStarted(at: number, attempt: number): ExecutionReport {
    this.attempt = attempt;
    return this.make('running', 'attempt_started', at, { attempt });
  }

  attemptFailed(result: AttemptResult): ExecutionReport {
    this.evidence = briefEvidence(result.outcome.evidence);
    const detail = { ...attemptDetail(result), evidence: this.evidence };
    return this.make('retrying', 'attempt_failed', result.finishedAt, detail, result.outcome);
  }

  retryPlanned(at: number, delayMs: number): ExecutionReport {
    return this.make('retrying', 'retry_planned', at, {
      attempt: this.attempt + 1,
      delay_ms: delayMs,
      retry_at: at + delayMs,
    });
  }

  /**
   * Another claim goes on, in this queue or, if that has lost data, after recovery. `receiptUntil`: it only waits on for the receipt of a
   * delivered attempt. `retryAt`: for the instant of the next one.
   */
  handedBack(
    at: number,
    reason: 'drained' | 'queue_lost',
    { receiptUntil, retryAt }: Pick<ClaimProgress, 'receiptUntil' | 'retryAt'> = NOTHING_AWAITED,
  ): ExecutionReport {
    return this.make(
      'pending',
      'handed_back',
      at,
      {
        attempt: this.attempt,
        reason,
        ...(receiptUntil === null ? {} : { receipt_until: receiptUntil }),
        ...(retryAt === null ? {} : { retry_at: retryAt }),
      },
      { reason, message: null },
    );
  }

  /** Attempt 1 starts with the claim. */
  firstAttempt(): void {
    this.attempt = 1;
  }

  finished(result: AttemptResult): ExecutionReport {
    const { status, evidence } = result.outcome;
    this.evidence = briefEvidence(evidence);
    return this.make(status, 'finished', result.finishedAt, attemptDetail(result), result.outcome);
  }

  /** Ends the run without a (further) attempt. */
  ended(at: number, verdict: Verdict): ExecutionReport {
    return this.make(verdict.status, 'finished', at, { attempt: 0, ...verdict }, verdict);
  }

  private make(
    status: Status,
    kind: LedgerKind,
    at: number,
    detail: Readonly<Record<string, unknown>>,
    why: Pick<ExecutionReport, 'reason' | 'message'> = { reason: null, message: null },
  ): ExecutionReport {
    this.status = transition(this.status, status);
    const isEnd = kind === 'finished';
    return {
      executionId: this.claim.executionId,
      taskId: this.claim.taskId,
      generation: this.claim.generation,
      seq: this.seq++,
      status: this.status,
      reason: why.reason,
      message: why.message,
      worker: this.claim.worker,
      attempt: this.attempt,
      startedAt: this.startedAt,
      finishedAt: isEnd ? at : null,
      evidence:
        this.slowAfterSec === null ? this.evidence : { ...this.evidence, slow_after_sec: this.slowAfterSec },
      entry: { kind, at, node: this.claim.worker, detail },
    };
  }
}

/** A run joined the line of its task; below every report of a claim, since it has none. */
export function waitingReport(
  { event, task, generationFloor }: QueueMessage,
  at: number,
  node: string,
): ExecutionReport {
  const { overlapPolicy, maxConcurrent } = task.policy;
  return {
    executionId: event.id,
    taskId: event.taskId,
    generation: generationFloor,
    seq: 0,
    status: 'pending',
    reason: null,
    message: null,
    worker: null,
    attempt: 0,
    startedAt: null,
    finishedAt: null,
    evidence: {},
    entry: {
      kind: 'waiting',
      at,
      node,
      detail: { overlap_policy: overlapPolicy, max_concurrent: maxConcurrent },
    },
  };
}

const attemptDetail = ({ attempt, startedAt, finishedAt, outcome }: AttemptResult) => ({
  attempt,
  status: outcome.status,
  reason: outcome.reason,
  message: outcome.message,
  started_at: startedAt,
  finished_at: finishedAt,
  evidence: outcome.evidence,
});
