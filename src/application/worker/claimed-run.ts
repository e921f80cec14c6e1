import { messageOf } from '../../domain/errors.js';
import { type ExecutionReport, type Outcome } from '../../domain/execution.js';
import { planRetryDelayMs } from '../../domain/retry-planner.js';
import { type ClaimAnswer, type ClaimProgress } from '../../ports/claims.js';
import { type Executor, type StopReason } from '../../ports/executor.js';
import { type QueueMessage } from '../../ports/queue.js';
import { traceIdOf } from '../../ports/tracer.js';
import { owing } from '../owing.js';
import { HeldClaim } from './held-claim.js';
import { type QueueLife } from './queue-life.js';
import { type RunDeps } from './run-deps.js';
import { overlapVerdict, stopVerdict } from './unrun-verdicts.js';
import { type AttemptResult, RunReports, type Verdict } from './run-reports.js';

type Claimed = Extract<ClaimAnswer, { outcome: 'claimed' }>;

/**
 * One run under its claim, from the decision whether it may begin to its end: finished, handed back, or claim lost.
 */
export class ClaimedRun {
  private readonly reports: RunReports;
  private readonly held: HeldClaim;
  private attempt: number;
  private failures: number;
  private hasBegun = false;
  /** An earlier claim may have been lost with the queue's data. */
  private mayBeForgotten = false;

  constructor(
    private readonly deps: RunDeps & { readonly queueLife: QueueLife },
    private readonly message: QueueMessage,
    private readonly answer: Claimed,
    first: RunReports,
    private readonly stop: AbortController,
  ) {
    this.held = new HeldClaim(deps, answer.claim, this.facts(), stop);
    this.attempt = answer.previous?.attempt ?? 0;
    this.failures = answer.previous?.failures ?? 0;
    const hasReported = answer.previous === null && !answer.isSaturated && answer.stop === null; // The claim itself reported that the run begins.
    this.reports = hasReported ? first : new RunReports(answer.claim, this.attempt);
  }

  async toEnd(): Promise<void> {
    const { queueLife } = this.deps;
    const { stop } = this.answer;
    if (stop !== null)
      return this.finish(this.reports.ended(this.deps.clock.now(), stopVerdict(stop, this.wasBegun())));
    this.mayBeForgotten = !(await this.held.untilAnswered(() => queueLife.hasLastedSince(this.message)));
    if (this.mayBeForgotten && this.message.task.policy.isIdempotent) return this.abandon();
    const refusal = this.refusal();
    if (refusal !== null) return this.finish(this.reports.ended(this.deps.clock.now(), refusal));
    await this.start();
    while (!this.stop.signal.aborted) {
      const result = await this.tryOnce();
      if (result === null || this.wasInterrupted(result)) return this.stopped(result);
      if (result.outcome.status === 'success') return this.finish(this.reports.finished(result));
      this.failures++;
      const delayMs = planRetryDelayMs(this.message.task.policy, this.failures, () =>
        this.deps.random.next(),
      );
      if (delayMs === null) return this.finish(this.reports.finished(result));
      await this.waitForRetry(result, delayMs);
    }
    return this.stopped(null);
  }

  /** Why the run must not begin; null when it may. */
  private refusal(): Verdict | null {
    const { task } = this.message;
    const { previous, isSaturated } = this.answer;
    const wasBegun = this.wasBegun();
    if ((wasBegun || this.mayBeForgotten) && !task.policy.isIdempotent) {
      const lost = wasBegun ? `worker ${previous?.worker} was lost` : 'the queue lost data';
      const message = `${lost} after the run may have begun; it is not run again`;
      return { status: 'fail', reason: 'outcome_unknown', message };
    }
    if (isSaturated) {
      return overlapVerdict(task.policy, wasBegun);
    }
    if (this.deps.executors.has(task.executor.type)) return null;
    const message = `worker ${this.answer.claim.worker} has no executor "${task.executor.type}"`;
    return { status: 'fail', reason: 'unsupported_executor', message };
  }

  /** Whether an earlier claim may have begun an attempt. */
  private wasBegun(): boolean {
    const { previous } = this.answer;
    return previous !== null && !(previous.isHandedBack && previous.attempt === 0);
  }

  private async start(): Promise<void> {
    const { clock, metrics } = this.deps;
    const now = clock.now();
    metrics.observe('queue_to_start_seconds', {}, Math.max(0, now - this.message.publishedAt) / 1000);
    const { previous } = this.answer;
    if (previous === null) return;
    metrics.count('reclaims_total', {});
    // From here on the run may begin at any time, so the next worker must count this attempt as begun.
    const coming = { attempt: this.attempt + 1, failures: this.failures, isAwaiting: false };
    const claimed = this.report(this.reports.claimed(now, this.message.publishedAt), coming);
    await this.report(this.reports.reclaimed(now, previous), coming);
    await claimed;
  }

  /** One attempt, or null if the run was stopped before it began. */
  private async tryOnce(): Promise<AttemptResult | null> {
    const { clock, executors, tracer, metrics } = this.deps;
    const { event, task } = this.message;
    const executor = executors.get(task.executor.type);
    if (executor === undefined || !(await this.held.isAlive())) return null;
    if (this.stop.signal.aborted) return null;
    await this.beginAttempt();
    if (this.stop.signal.aborted) return null;
    const startedAt = clock.now();
    this.hasBegun = true;
    const outcome = await this.execute(executor, tracer.child(event.traceparent));
    metrics.count('attempts_total', { status: outcome.status, reason: outcome.reason ?? 'none' });
    return { attempt: this.attempt, startedAt, finishedAt: clock.now(), outcome };
  }

  /** The first attempt of a first claim starts with the claim and has no report of its own. */
  private async beginAttempt(): Promise<void> {
    this.attempt++;
    if (this.attempt === 1) this.reports.firstAttempt();
    else await this.report(this.reports.attemptStarted(this.deps.clock.now(), this.attempt));
  }

  private async execute(executor: Executor, traceparent: string): Promise<Outcome> {
    const { event, task } = this.message;
    try {
      const outcome = await executor.execute(
        {
          executionId: event.id,
          taskId: task.id,
          spec: task.executor,
          params: task.params,
          slot: event.slot,
          firedAt: event.firedAt,
          attempt: this.attempt,
          timeoutMs: task.policy.timeoutSec * 1000,
          traceparent,
          receipt: null,
        },
        this.stop.signal,
      );
      if (outcome.status === 'delivered') throw new Error('delivered without being asked for a receipt');
      return outcome;
    } catch (error) {
      this.deps.logger.error({ ...this.facts(), err: error }, 'executor threw, which is a bug');
      return { status: 'fail', reason: 'internal_error', message: messageOf(error), evidence: {} };
    }
  }

  private async waitForRetry(result: AttemptResult, delayMs: number): Promise<void> {
    const { clock, logger } = this.deps;
    const failed = this.report(this.reports.attemptFailed(result));
    await this.report(this.reports.retryPlanned(result.finishedAt, delayMs));
    await failed;
    const { reason, message } = result.outcome;
    logger.warn(
      { ...this.facts(), attempt: result.attempt, reason, retry_in_ms: delayMs },
      message ?? 'attempt failed',
    );
    await clock.sleep(delayMs, this.stop.signal);
  }

  /** The run was stopped from outside; `result` is what the interrupted attempt came to, if there was one. */
  private async stopped(result: AttemptResult | null): Promise<void> {
    const { clock, logger } = this.deps;
    const reason = this.stopReason() ?? 'claim_lost';
    if (reason === 'claim_lost')
      return logger.warn(this.facts(), 'run stopped, its claim belongs to another worker');
    if (reason === 'drained' && (this.message.task.policy.isIdempotent || !this.hasBegun)) {
      const report = this.reports.handedBack(clock.now(), 'drained');
      await this.held.handBack(report, this.progress());
      return logger.info(this.facts(), 'run handed back');
    }
    if (result !== null) return this.finish(this.reports.finished(result));
    return this.finish(
      this.reports.ended(clock.now(), { status: 'fail', reason, message: `stopped: ${reason}` }),
    );
  }

  /** A forgotten claim may run this elsewhere, or have ended it: recovery, which reads the store, decides whether it runs again. */
  private async abandon(): Promise<void> {
    await this.held.abandon(this.reports.handedBack(this.deps.clock.now(), 'queue_lost'));
    this.deps.logger.warn(this.facts(), 'the queue lost data, run left to recovery');
  }

  private async finish(report: ExecutionReport): Promise<void> {
    const { metrics, logger } = this.deps;
    const { task } = this.message;
    if (!(await this.held.finish(owing(report, task))))
      return logger.warn(this.facts(), 'late report refused, the claim was lost');
    const reason = report.reason ?? 'none';
    metrics.count('executions_total', { status: report.status, reason });
    if (report.startedAt !== null && report.finishedAt !== null) {
      const seconds = Math.max(0, report.finishedAt - report.startedAt) / 1000;
      metrics.observe('execution_duration_seconds', { group: task.group }, seconds);
    }
    logger.info({ ...this.facts(), status: report.status, reason, attempt: report.attempt }, 'finished');
  }

  private report(report: ExecutionReport, progress: ClaimProgress = this.progress()): Promise<void> {
    return this.held.report(report, progress);
  }

  /** Whether the stop ended the attempt; one that came to its own end at that moment counts as it is. */
  private wasInterrupted(result: AttemptResult): boolean {
    return result.outcome.reason !== null && result.outcome.reason === this.stopReason();
  }

  private stopReason(): StopReason | null {
    return this.stop.signal.aborted ? (this.stop.signal.reason as StopReason) : null;
  }

  private progress(): ClaimProgress {
    return { attempt: this.attempt, failures: this.failures, isAwaiting: false };
  }

  private facts() {
    const { event } = this.message;
    return { task_id: event.taskId, execution_id: event.id, trace_id: traceIdOf(event.traceparent) };
  }
}
