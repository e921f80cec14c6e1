import { type Evidence, type ExecutionReport, type Outcome } from '../../domain/execution.js';
import { planRetryDelayMs } from '../../domain/retry-planner.js';
import { type ClaimProgress, type PreviousClaim } from '../../ports/claims.js';
import { type StopReason } from '../../ports/executor.js';
import { type Receipt } from '../../ports/receipts.js';
import { owing } from '../owing.js';
import { endFacts } from '../run-facts.js';
import { HeldClaim } from './held-claim.js';
import { MeasuredRun } from './measured-run.js';
import { checkBefore } from './precheck.js';
import { type QueueLife } from './queue-life.js';
import { type AttemptListener, RunAttempt } from './run-attempt.js';
import { type DeliveredRun, type RunDeps } from './run-deps.js';
import { type AttemptResult, RunReports, type Verdict } from './run-reports.js';
import { hasBegunByClaim, refusalOf, stopVerdict, unsupported, wasBegun } from './unrun-verdicts.js';
import { watchSlow } from './watch-slow.js';

/** One run under its claim, from the decision whether it may begin to its end: finished, handed back, or claim lost. */
export class ClaimedRun implements AttemptListener {
  private readonly reports: RunReports;
  private readonly held: HeldClaim;
  private readonly attempts: RunAttempt;
  private readonly measured: MeasuredRun;
  private attempt: number;
  private failures: number;
  private hasBegun = false;
  /** Until when the receipt of the current attempt is awaited, epoch ms; null while it is not. */
  private receiptUntil: number | null = null;
  /** Planned instant of the next attempt, epoch ms; null while none is planned. */
  private retryAt: number | null;
  private readonly unwatchSlow: () => void;

  constructor(
    private readonly deps: RunDeps & { readonly queueLife: QueueLife },
    private readonly own: DeliveredRun,
  ) {
    const { message, answer, first, trace, stop } = own;
    this.held = new HeldClaim(deps, answer.claim, trace, stop);
    const isOurs = () => this.held.isAlive();
    this.attempts = new RunAttempt(deps, message, { trace, signal: stop.signal, listener: this, isOurs });
    this.measured = new MeasuredRun(deps.metrics, message);
    this.attempt = answer.previous?.attempt ?? 0;
    this.failures = answer.previous?.failures ?? 0;
    this.retryAt = answer.previous?.retryAt ?? null;
    this.reports = hasBegunByClaim(message.task, answer) ? first : new RunReports(answer.claim, this.attempt);
    this.unwatchSlow = watchSlow(
      deps,
      message.task,
      this.own.trace.facts,
      (slowAfterSec) => void this.report(this.reports.slow(deps.clock.now(), slowAfterSec)),
    );
  }

  toEnd(): Promise<void> {
    return this.run().finally(this.unwatchSlow);
  }

  async delivered(evidence: Evidence, until: number): Promise<void> {
    this.receiptUntil = until;
    const report = this.reports.delivered(this.deps.clock.now(), this.attempt, evidence, until);
    await this.held.reportSurely(report, this.progress());
  }

  progressed(receipt: Receipt): void {
    void this.report(this.reports.progress(receipt, this.attempt));
  }

  private async run(): Promise<void> {
    const { previous, stop } = this.own.answer;
    if (previous !== null && previous.receiptUntil !== null)
      return this.resume(previous, previous.receiptUntil);
    if (stop !== null) return this.end(stopVerdict(stop, wasBegun(previous, this.own.message.task)));
    const { queueLife, executors } = this.deps;
    const mayBeForgotten = !(await this.held.untilAnswered(() => queueLife.hasLastedSince(this.own.message)));
    if (mayBeForgotten && this.own.message.task.policy.isIdempotent) return this.abandon();
    const refusal = refusalOf(this.own.message.task, this.own.answer, { mayBeForgotten, executors });
    if (refusal !== null) return this.end(refusal);
    const { held, reports, deps, own } = this;
    const run = { held, reports, progress: this.progress(), signal: own.stop.signal, trace: own.trace };
    const failedCheck = await checkBefore(deps, own.message, run);
    if (failedCheck !== null) return this.end(failedCheck);
    if (this.own.stop.signal.aborted) return this.stopped(null);
    await this.start();
    return this.goOn(await this.tryOnce());
  }

  /** Waits on for the receipt of an attempt that an earlier claim delivered: nothing runs twice, whatever the queue may have lost. */
  private async resume(previous: PreviousClaim, until: number): Promise<void> {
    const { clock, executors, metrics } = this.deps;
    const { task } = this.own.message;
    const executor = executors.get(task.executor.type);
    if (executor === undefined) return this.end(unsupported(task, this.own.answer));
    if (this.own.answer.stop !== null) this.own.stop.abort(this.own.answer.stop);
    metrics.count('reclaims_total', {});
    this.hasBegun = true;
    this.receiptUntil = until;
    await this.report(this.reports.resumed(clock.now(), previous));
    const outcome = await this.attempts.resume(executor, this.attempt, until);
    return this.goOn(this.ended(until - task.policy.timeoutSec * 1000, outcome));
  }

  /** From the end of an attempt, or null if the run was stopped before it began, to the end of the run. */
  private async goOn(first: AttemptResult | null): Promise<void> {
    for (let result = first; ; result = await this.tryOnce()) {
      if (result === null || this.wasInterrupted(result)) return this.stopped(result);
      this.receiptUntil = null;
      if (result.outcome.status === 'success') return this.finish(this.reports.finished(result));
      this.failures++;
      const { policy } = this.own.message.task;
      const delayMs = planRetryDelayMs(policy, this.failures, () => this.deps.random.next());
      // A run that only waited on for its receipt, while others took its place, has no room for another attempt.
      if (delayMs === null || this.own.answer.isSaturated) return this.finish(this.reports.finished(result));
      await this.waitForRetry(result, delayMs);
    }
  }

  private async start(): Promise<void> {
    const { clock, metrics } = this.deps;
    const now = clock.now();
    const { task, publishedAt } = this.own.message;
    const { previous } = this.own.answer;
    if (!wasBegun(previous, task)) this.measured.began(now);
    if (hasBegunByClaim(task, this.own.answer)) return;
    if (previous !== null) metrics.count('reclaims_total', {});
    // Unless it is planned, the next attempt may begin at any time from here on, so the next worker must count it as begun.
    const { retryAt } = this;
    const coming = { ...this.progress(), attempt: this.attempt + (retryAt === null ? 1 : 0) };
    const claimed = this.reports.claimed(now, publishedAt);
    const isChecked = task.hooks.pre !== null;
    const reported = isChecked ? this.held.reportSurely(claimed, coming) : this.report(claimed, coming);
    if (previous !== null) await this.report(this.reports.reclaimed(now, previous), coming);
    await reported;
    if (retryAt !== null) await clock.sleep(Math.max(0, retryAt - clock.now()), this.own.stop.signal);
  }

  /** One attempt, or null if the run was stopped before it began. */
  private async tryOnce(): Promise<AttemptResult | null> {
    const { clock, executors } = this.deps;
    const executor = executors.get(this.own.message.task.executor.type);
    if (executor === undefined || this.own.stop.signal.aborted) return null;
    if (!(await this.held.isAlive()) || this.own.stop.signal.aborted) return null;
    await this.beginAttempt();
    if (this.own.stop.signal.aborted) return null;
    this.hasBegun = true;
    return this.ended(clock.now(), await this.attempts.run(executor, this.attempt));
  }

  private ended(startedAt: number, outcome: Outcome): AttemptResult {
    const isLeft = outcome.reason === 'drained' || outcome.reason === 'claim_lost';
    // One that was delivered and left goes on where its receipt is awaited next.
    if (!isLeft || this.receiptUntil === null) this.measured.attempted(outcome);
    return { attempt: this.attempt, startedAt, finishedAt: this.deps.clock.now(), outcome };
  }

  /** The first attempt of a first claim starts with the claim and has no report of its own. */
  private async beginAttempt(): Promise<void> {
    this.attempt++;
    this.receiptUntil = null;
    this.retryAt = null;
    if (this.attempt === 1) this.reports.firstAttempt();
    else await this.report(this.reports.attemptStarted(this.deps.clock.now(), this.attempt));
  }

  private async waitForRetry(result: AttemptResult, delayMs: number): Promise<void> {
    const { clock, logger } = this.deps;
    this.retryAt = result.finishedAt + delayMs;
    const failed = this.report(this.reports.attemptFailed(result));
    await this.report(this.reports.retryPlanned(result.finishedAt, delayMs));
    await failed;
    const { reason, message } = result.outcome;
    logger.warn(
      { ...this.own.trace.facts, attempt: result.attempt, reason, error: message, retry_in_ms: delayMs },
      'attempt failed, it is made again',
    );
    await clock.sleep(delayMs, this.own.stop.signal);
  }

  /** The run was stopped from outside; `result` is what the interrupted attempt came to, if there was one. */
  private async stopped(result: AttemptResult | null): Promise<void> {
    const { clock, logger } = this.deps;
    const reason = this.stopReason() ?? 'claim_lost';
    if (reason === 'claim_lost')
      return logger.warn(this.own.trace.facts, 'run stopped, its claim belongs to another worker');
    const mayGoOn = this.own.message.task.policy.isIdempotent || !this.hasBegun || this.receiptUntil !== null;
    if (reason === 'drained' && mayGoOn) {
      const progress = this.progress();
      await this.held.handBack(this.reports.handedBack(clock.now(), 'drained', progress), progress);
      return logger.info(this.own.trace.facts, 'run handed back');
    }
    if (result !== null) return this.finish(this.reports.finished(result));
    return this.end({ status: 'fail', reason, message: `stopped: ${reason}` });
  }

  /** Ends the run without a (further) attempt. */
  private end(verdict: Verdict): Promise<void> {
    return this.finish(this.reports.ended(this.deps.clock.now(), verdict));
  }

  /** A forgotten claim may run this elsewhere, or have ended it: recovery, which reads the store, decides whether it runs again. */
  private async abandon(): Promise<void> {
    await this.held.abandon(this.reports.handedBack(this.deps.clock.now(), 'queue_lost'));
    this.deps.logger.warn(this.own.trace.facts, 'the queue lost data, run left to recovery');
  }

  private async finish(report: ExecutionReport): Promise<void> {
    const { logger } = this.deps;
    const { task } = this.own.message;
    this.unwatchSlow();
    await this.held.untilAnswered(() => this.attempts.close());
    if (!(await this.held.finish(owing(report, task))))
      return logger.warn(this.own.trace.facts, 'late report refused, the claim was lost');
    this.measured.ended(report);
    logger.info({ ...this.own.trace.facts, ...endFacts(report) }, 'finished');
  }

  private report(report: ExecutionReport, progress: ClaimProgress = this.progress()): Promise<void> {
    return this.held.report(report, progress);
  }

  /** Whether the stop ended the attempt; one that came to its own end at that moment counts as it is. */
  private wasInterrupted(result: AttemptResult): boolean {
    return result.outcome.reason !== null && result.outcome.reason === this.stopReason();
  }

  private stopReason(): StopReason | null {
    return this.own.stop.signal.aborted ? (this.own.stop.signal.reason as StopReason) : null;
  }

  private progress(): ClaimProgress {
    const { attempt, failures, receiptUntil, retryAt } = this;
    return { attempt, failures, receiptUntil, retryAt };
  }
}
