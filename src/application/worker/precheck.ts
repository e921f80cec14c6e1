import { messageOf } from '../../domain/errors.js';
import { type Outcome } from '../../domain/execution.js';
import { type HttpCheck, type PreHook, type TaskSucceededCheck } from '../../domain/hooks.js';
import { type ClaimProgress } from '../../ports/claims.js';
import { type StopReason } from '../../ports/executor.js';
import { type LastOutcome } from '../../ports/last-outcomes.js';
import { type QueueMessage } from '../../ports/queue.js';
import { failureOf } from '../traced.js';
import { type HeldClaim } from './held-claim.js';
import { type RunDeps } from './run-deps.js';
import { type RunReports, type Verdict } from './run-reports.js';
import { type RunTrace } from './run-trace.js';
import { stopVerdict } from './unrun-verdicts.js';

const RETRY_MS = 500;

interface CheckedRun {
  readonly held: HeldClaim;
  readonly reports: RunReports;
  readonly progress: ClaimProgress;
  readonly signal: AbortSignal;
  readonly trace: RunTrace;
}

/** Why a run ends before it begins; null when it may begin, or another worker goes on. What has begun before is not checked any more. */
export async function checkBefore(
  deps: RunDeps,
  message: QueueMessage,
  run: CheckedRun,
): Promise<Verdict | null> {
  const { pre } = message.task.hooks;
  if (pre === null || run.progress.attempt > 0) return null;
  const refusal = await new Precheck(deps, message, pre, run).refusal();
  const stop = run.signal.aborted ? (run.signal.reason as StopReason) : null;
  return stop === 'cancelled' || stop === 'replaced' ? stopVerdict(stop, false) : refusal;
}

/**
 * The check of a task's pre-hook, made under the claim and before attempt 1; again by the hook's own policy. Whoever takes the claim over
 * begins it anew.
 */
class Precheck {
  constructor(
    private readonly deps: RunDeps,
    private readonly message: QueueMessage,
    private readonly hook: PreHook,
    private readonly run: CheckedRun,
  ) {}

  async refusal(): Promise<Verdict | null> {
    const { clock, metrics } = this.deps;
    const { held, reports, progress, signal } = this.run;
    const { onFail, retryCount, retryIntervalSec } = this.hook;
    for (let number = 1; !signal.aborted; number++) {
      const outcome = await this.run.trace.step(
        'pre-hook',
        (context) => this.check(number, context),
        (checked) => ({ attributes: { 'ax.check': number }, error: failureOf(checked) }),
      );
      if (signal.aborted) break;
      const isPassed = outcome.status === 'success';
      metrics.count('prechecks_total', { result: isPassed ? 'passed' : 'failed' });
      const isLast = isPassed || onFail === 'skip' || number > retryCount;
      const delayMs = isLast ? null : retryIntervalSec * 1000;
      await held.report(reports.prechecked(clock.now(), number, outcome, delayMs), progress);
      if (isPassed) return null;
      if (delayMs === null) {
        const message = `check ${number} failed: ${outcome.message}`;
        return { status: 'skipped', reason: 'precheck', message };
      }
      await clock.sleep(delayMs, signal);
    }
    return null;
  }

  private check(number: number, context: string): Promise<Outcome> {
    const { check } = this.hook;
    return check.type === 'http' ? this.call(check, number, context) : this.lookUp(check);
  }

  private async call(
    { target, timeoutSec }: HttpCheck,
    number: number,
    traceparent: string,
  ): Promise<Outcome> {
    const { executors, worker, logger } = this.deps;
    const { event, task } = this.message;
    const executor = executors.get(target.type);
    if (executor === undefined)
      return failed('unsupported_executor', `worker ${worker} has no executor "${target.type}"`);
    const { id: executionId, taskId, slot, firedAt } = event;
    const { params } = task;
    try {
      const outcome = await executor.execute(
        {
          ...{ executionId, taskId, slot, firedAt, params, attempt: number },
          spec: target,
          timeoutMs: timeoutSec * 1000,
          traceparent,
          receipt: null,
          hook: {
            kind: 'pre',
            key: `${executionId}:pre:${number}`,
            body: {
              hook: 'pre',
              execution_id: executionId,
              task_id: taskId,
              schedule_at: slot,
              fired_at: firedAt,
              check: number,
              params,
            },
          },
        },
        this.run.signal,
      );
      if (outcome.status === 'delivered') throw new Error('delivered without being asked for a receipt');
      return outcome;
    } catch (error) {
      logger.error({ ...this.run.trace.facts, err: error }, 'executor threw, which is a bug');
      return failed('internal_error', messageOf(error));
    }
  }

  private async lookUp(check: TaskSucceededCheck): Promise<Outcome> {
    const last = await this.lastOutcome(check.taskId);
    return judge(check, last, this.deps.clock.now());
  }

  /** What is not known because the queue is away decides nothing: it is asked until it answers, or the run is stopped. */
  private async lastOutcome(taskId: string): Promise<LastOutcome | null> {
    const { lastOutcomes, clock, logger } = this.deps;
    const { signal } = this.run;
    while (!signal.aborted) {
      try {
        return await lastOutcomes.read(taskId);
      } catch (error) {
        logger.warn({ ...this.run.trace.facts, err: error }, 'last outcome not read, trying again');
        await clock.sleep(RETRY_MS, signal);
      }
    }
    return null;
  }
}

/** Whether the newest run of another task that has ended was a success, and not too long ago. `now`: epoch ms. */
function judge({ taskId, withinSec }: TaskSucceededCheck, last: LastOutcome | null, now: number): Outcome {
  const facts = { checked_task_id: taskId, within_sec: withinSec };
  if (last === null) {
    const message = `no run of task ${taskId} is known: it never ran, or there is no such task`;
    return { ...failed('precheck', message), evidence: facts };
  }
  const ageSec = Math.max(0, Math.round((now - last.finishedAt) / 1000));
  const evidence = {
    ...facts,
    last_status: last.status,
    last_schedule_at: last.slot,
    last_finished_at: last.finishedAt,
  };
  const ended = `the last run of task ${taskId} ended as ${last.status} ${ageSec} s ago`;
  if (last.status !== 'success') return { ...failed('precheck', ended), evidence };
  if (now - last.finishedAt <= withinSec * 1000)
    return { status: 'success', reason: null, message: null, evidence };
  return { ...failed('precheck', `${ended}, which is more than ${withinSec} s`), evidence };
}

const failed = (reason: Outcome['reason'], message: string): Outcome => ({
  status: 'fail',
  reason,
  message,
  evidence: {},
});
