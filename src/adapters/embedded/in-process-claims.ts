import { type ExecutionReport } from '../../domain/execution.js';
import {
  type Claim,
  type ClaimAnswer,
  type ClaimProgress,
  type Claims,
  type ClaimTerms,
  DEFAULT_MAX_WAITING,
  type PreviousClaim,
  type RenewAnswer,
} from '../../ports/claims.js';
import { lastOutcomeOf } from '../../ports/last-outcomes.js';
import { type Delivery } from '../../ports/queue.js';
import { claimTurn } from './in-process-turn.js';
import { type InProcessState } from './in-process-state.js';
import { newRun, type Run } from './in-process-runs.js';

/**
 * Claims of runs. Their states:
 *   queued ─claim→ claimed ─finish→ finished
 *   queued ─claim, when there is no room→ waiting ─its turn→ queued
 *   claimed ─handBack→ queued
 *   claimed ─claim by anyone, once its life is over→ claimed with the next generation
 *   claimed ─renew, when its mark expired and others took the place→ queued: the claim is lost
 *   any but finished, and no live claim ─cancel→ finished
 * A call by a claim compares id, worker and generation, so a claim that was overtaken can change nothing any more.
 */
export class InProcessClaims implements Claims {
  constructor(private readonly state: InProcessState) {}

  async claim(
    delivery: Delivery,
    worker: string,
    ttlMs: number,
    { begun, waiting, maxWaiting = DEFAULT_MAX_WAITING }: ClaimTerms = {},
  ): Promise<ClaimAnswer> {
    const { runs, clock } = this.state;
    const { message, handle } = delivery;
    const { event, task, generationFloor } = message;
    const lane = this.state.lane(task.pool);
    if (!lane.has(handle)) return { outcome: 'finished' };
    const known = runs.find(event);
    const refusal = known === undefined ? null : this.refusal(known, delivery);
    if (refusal !== null) return refusal;

    const run = known ?? runs.put(event, newRun(event.id, task.pool, handle));
    const previous = previousOf(run);
    Object.assign(run, { pool: task.pool, handle, limit: task.policy.maxConcurrent });
    const turn = claimTurn(this.state, run, message, maxWaiting);
    if (turn.is === 'waiting') {
      if (turn.isNew && waiting !== undefined) this.send(waiting());
      this.state.advance(task.id);
      return { outcome: 'waiting' };
    }
    run.state = 'claimed';
    run.worker = worker;
    run.generation = Math.max(run.generation, generationFloor) + 1;
    run.ends = clock.monotonicMs() + ttlMs;
    run.hasMark = turn.is === 'now';
    run.isHandedBack = false;
    if (run.hasMark) this.mark(event, run);
    lane.touch(handle);
    if (begun !== undefined && run.hasMark && previous === null) {
      run.attempt = Math.max(run.attempt, 1);
      this.send(begun);
    }
    this.state.advance(task.id);
    const { taskId, kind, slot, id: executionId } = event;
    const { pool, generation } = run;
    const claim = { taskId, kind, slot, executionId, pool, worker, generation, handle };
    const stop = this.state.stops.of(executionId);
    return { outcome: 'claimed', claim, isSaturated: turn.is === 'never', stop, previous };
  }

  async renew(claims: readonly Claim[], ttlMs: number): Promise<RenewAnswer[]> {
    return claims.map((claim) => this.renewOne(claim, ttlMs));
  }

  async report(claim: Claim, report: ExecutionReport, progress: ClaimProgress): Promise<boolean> {
    const run = this.held(claim);
    if (run === null) return false;
    keepProgress(run, progress);
    this.keepMark(claim, run);
    this.send(report);
    return true;
  }

  async finish(claim: Claim, report: ExecutionReport): Promise<boolean> {
    const { runs, stops } = this.state;
    const before = runs.find(claim);
    if (before?.state === 'finished' && isBy(before, claim)) return true;
    const run = this.held(claim);
    if (run === null) return false;
    runs.finish(claim, run);
    stops.forget(claim.executionId);
    const outcome = lastOutcomeOf(claim.slot, report);
    if (outcome !== null) this.state.lastOutcomes.noteOne(claim.taskId, outcome);
    runs.unmark(claim.taskId, claim.executionId);
    this.state.lane(claim.pool).remove(claim.handle);
    this.send(report);
    this.state.advance(claim.taskId);
    return true;
  }

  async abandon(claim: Claim, report: ExecutionReport): Promise<boolean> {
    const { runs } = this.state;
    const run = runs.find(claim);
    if (run?.state !== 'claimed' || !isBy(run, claim)) return false;
    runs.forget(claim);
    runs.unmark(claim.taskId, claim.executionId);
    this.state.lane(claim.pool).remove(claim.handle);
    this.send(report);
    this.state.advance(claim.taskId);
    return true;
  }

  async handBack(claim: Claim, report: ExecutionReport, progress: ClaimProgress): Promise<boolean> {
    const { runs, messageArrivals } = this.state;
    const before = runs.find(claim);
    const isBack = before?.state === 'queued' || before?.state === 'waiting';
    if (isBack && before.isHandedBack && isBy(before, claim)) return true;
    const run = this.held(claim);
    if (run === null) return false;
    Object.assign(run, progress);
    if (run.attempt === 0) runs.unmark(claim.taskId, claim.executionId);
    else this.keepMark(claim, run, Math.max(run.receiptUntil ?? 0, run.retryAt ?? 0));
    run.state = 'queued';
    run.isHandedBack = true;
    run.handle = this.state.lane(claim.pool).putBack(claim.handle);
    this.send(report);
    messageArrivals.announce();
    this.state.advance(claim.taskId);
    return true;
  }

  /** Why a run cannot be claimed with this delivery, which is dropped if another one counts; null if it can. */
  private refusal(run: Run, { message: { event, task }, handle }: Delivery): ClaimAnswer | null {
    const lane = this.state.lane(task.pool);
    if (run.id !== event.id || run.state === 'finished') {
      lane.remove(handle);
      return { outcome: run.id === event.id ? 'finished' : 'held' };
    }
    if (run.state !== 'waiting' && !this.state.runs.isClaimLive(run)) return null;
    if (run.pool !== task.pool || run.handle !== handle) lane.remove(handle);
    return { outcome: 'held' };
  }

  private renewOne(claim: Claim, ttlMs: number): RenewAnswer {
    const { runs, clock, stops } = this.state;
    const run = this.held(claim);
    if (run === null) return 'lost';
    if (run.hasMark && run.limit !== null && !runs.hasMark(claim.taskId, claim.executionId)) {
      if (runs.countMarks(claim.taskId) >= run.limit) {
        run.state = 'queued';
        return 'lost';
      }
    }
    run.ends = clock.monotonicMs() + ttlMs;
    if (run.hasMark) this.mark(claim, run);
    this.state.lane(claim.pool).touch(claim.handle);
    return stops.of(claim.executionId) ?? 'alive';
  }

  /**
   * The run if this claim is its latest one and has not ended, else null. A claim that the broker has lost is written again, with a mark
   * for whatever prolongs it; how far it got is lost too, so it counts as begun.
   */
  private held(claim: Claim): Run | null {
    const { runs } = this.state;
    const run = runs.find(claim);
    if (run !== undefined) return run.state === 'claimed' && isBy(run, claim) ? run : null;
    const { executionId, pool, handle, worker, generation } = claim;
    runs.mark(claim.taskId, executionId, { ends: 0, since: 0 });
    return runs.put(claim, {
      ...newRun(executionId, pool, handle),
      state: 'claimed',
      worker,
      generation,
      hasMark: true,
      attempt: 1,
    });
  }

  /** For as long as the claim lives, and until `until` (epoch ms): while the target works on and its receipt is awaited. */
  private mark({ taskId }: Pick<Claim, 'taskId'>, run: Run, until = run.receiptUntil ?? 0): void {
    const { runs, clock } = this.state;
    const ends = Math.max(run.ends, clock.monotonicMs() + until - clock.now());
    runs.mark(taskId, run.id, { ends, since: run.since });
  }

  private keepMark(claim: Claim, run: Run, until?: number): void {
    if (this.state.runs.hasMark(claim.taskId, claim.executionId)) this.mark(claim, run, until);
  }

  private send(report: ExecutionReport): void {
    this.state.reports.add(report);
    this.state.reportArrivals.announce();
  }
}

const previousOf = (run: Run): PreviousClaim | null => {
  const { worker, generation, attempt, failures, receiptUntil, retryAt, isHandedBack } = run;
  const progress = { attempt, failures, receiptUntil, retryAt };
  return worker === null ? null : { worker, generation, ...progress, isHandedBack };
};

const isBy = (run: Run, claim: Claim): boolean =>
  run.id === claim.executionId && run.worker === claim.worker && run.generation === claim.generation;

function keepProgress(run: Run, { attempt, failures, receiptUntil, retryAt }: ClaimProgress): void {
  if (attempt >= run.attempt) Object.assign(run, { receiptUntil, retryAt });
  run.attempt = Math.max(run.attempt, attempt);
  run.failures = Math.max(run.failures, failures);
}
