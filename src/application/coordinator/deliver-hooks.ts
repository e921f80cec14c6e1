import { messageOf } from '../../domain/errors.js';
import { type Outcome } from '../../domain/execution.js';
import { type PostHook } from '../../domain/hooks.js';
import { planRetryDelayMs } from '../../domain/retry-planner.js';
import { type Clock } from '../../ports/clock.js';
import { type Executor } from '../../ports/executor.js';
import { type HookDelivery, type HookRepo } from '../../ports/hook-repo.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Tracer } from '../../ports/tracer.js';
import { runFacts } from '../run-facts.js';
import { failureOf, traced } from '../traced.js';
import { runSummary } from './run-summary.js';

/** Most summaries on their way at a time. */
const CONCURRENCY = 32;
/** Of one try. */
const TIMEOUT_MS = 10_000;
/** Longer than a try and the storing of what it came to. */
const LEASE_MS = 60_000;
const IDLE_MS = 1000;
const LONGEST_DELAY_SEC = 3600;

/**
 * Tells post-hooks of executions that have ended: lease → send → settle. Every coordinator does; a lease keeps them apart. A summary is
 * owed from the transaction that ended its execution until a target took it or its tries are used up, so it is told at least once: one
 * that was sent by a coordinator that died before it could say so is sent again, with the same key.
 */
export class DeliverHooks {
  private readonly sending = new Set<Promise<void>>();

  constructor(
    private readonly deps: {
      readonly hooks: HookRepo;
      readonly executors: ReadonlyMap<string, Executor>;
      readonly tracer: Tracer;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      readonly node: string;
    },
  ) {}

  /** Runs until stopped, then until what is on its way has ended, which a try's time bounds. */
  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      if (this.sending.size >= CONCURRENCY) await Promise.race(this.sending);
      else if (!(await this.turn())) await this.deps.clock.sleep(IDLE_MS, stop);
    }
    await Promise.all(this.sending);
  }

  /** Begins what is due; whether there may be more at once. */
  private async turn(): Promise<boolean> {
    const { hooks, clock, logger } = this.deps;
    const limit = CONCURRENCY - this.sending.size;
    try {
      const due = await hooks.lease({ now: clock.now(), leaseMs: LEASE_MS, limit });
      for (const delivery of due) this.begin(delivery);
      return due.length === limit;
    } catch (error) {
      logger.error({ err: error }, 'post-hooks not read, trying again');
      return false;
    }
  }

  private begin(delivery: HookDelivery): void {
    const sending = this.deliver(delivery)
      .catch((error: unknown) => {
        // The store knows nothing of the try, so it is made again after the lease.
        this.deps.logger.error({ ...factsOf(delivery), err: error }, 'post-hook not settled');
      })
      .finally(() => this.sending.delete(sending));
    this.sending.add(sending);
  }

  private async deliver(delivery: HookDelivery): Promise<void> {
    const { hooks, clock, metrics, logger, node } = this.deps;
    const { executionId, hook } = delivery;
    const { status, reason, message, evidence } = await this.send(delivery);
    const isSent = status === 'success';
    const failures = delivery.failures + (isSent ? 0 : 1);
    const delayMs = isSent || hook === null ? null : retryDelayMs(hook, failures);
    const at = clock.now();
    const retryAt = delayMs === null ? null : at + delayMs;
    const detail = {
      try: delivery.failures + 1,
      target: hook?.target.type ?? null,
      reason,
      message,
      evidence,
    };
    await hooks.settle({
      executionId,
      failures,
      retryAt,
      entry: {
        kind: isSent ? 'post_hook_sent' : 'post_hook_failed',
        at,
        node,
        detail: isSent ? detail : { ...detail, retry_at: retryAt, is_final: retryAt === null },
      },
    });
    const result = isSent ? 'sent' : retryAt === null ? 'given_up' : 'failed';
    metrics.count('post_hooks_total', { result });
    const facts = { ...factsOf(delivery), failures, reason };
    if (isSent) logger.info(facts, 'post-hook sent');
    else logger.warn({ ...facts, retry_at: retryAt, error: message }, `post-hook ${result}`);
  }

  /** One try, as an executor judges it. */
  private async send({ execution, hook, failures, ...task }: HookDelivery): Promise<Outcome> {
    if (hook === null) return failed('configuration', 'the stored post-hook cannot be read');
    if (execution === null) return failed('internal_error', 'the execution is not in the store any more');
    const { executors, logger, node } = this.deps;
    const executor = executors.get(hook.target.type);
    if (executor === undefined)
      return failed('unsupported_executor', `coordinator ${node} has no executor "${hook.target.type}"`);
    const { event } = execution;
    const call = (traceparent: string) =>
      executor.execute(
        {
          executionId: event.id,
          taskId: event.taskId,
          spec: hook.target,
          params: null,
          slot: event.slot,
          firedAt: event.firedAt,
          attempt: failures + 1,
          timeoutMs: TIMEOUT_MS,
          traceparent,
          receipt: null,
          hook: { kind: 'post', key: `${event.id}:post`, body: runSummary(execution, task) },
        },
        new AbortController().signal,
      );
    try {
      const outcome = await traced(this.deps, {
        name: 'post-hook',
        parent: event.traceparent,
        run: call,
        tell: (result) => ({
          attributes: { 'ax.attempt': failures + 1 },
          error: result.status === 'delivered' ? undefined : failureOf(result),
        }),
      });
      if (outcome.status === 'delivered') throw new Error('delivered without being asked for a receipt');
      return outcome;
    } catch (error) {
      logger.error({ ...runFacts(event), err: error }, 'executor threw, which is a bug');
      return failed('internal_error', messageOf(error));
    }
  }
}

const failed = (reason: Outcome['reason'], message: string): Outcome => ({
  status: 'fail',
  reason,
  message,
  evidence: {},
});

const retryDelayMs = ({ retryCount, retryIntervalSec }: PostHook, failures: number): number | null =>
  planRetryDelayMs(
    {
      retryCount,
      retryIntervalSec,
      retryStrategy: 'exponential',
      retryMaxIntervalSec: LONGEST_DELAY_SEC,
      hasRetryJitter: false,
    },
    failures,
    () => 0,
  );

const factsOf = ({ executionId, taskId }: HookDelivery) => ({
  execution_id: executionId,
  task_id: taskId,
});
