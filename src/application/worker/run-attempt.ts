import { awaitsReceipt } from '../../domain/executor-spec.js';
import { messageOf } from '../../domain/errors.js';
import { type Evidence, type Outcome } from '../../domain/execution.js';
import { type Executor, type ExecutorRequest, type StopReason } from '../../ports/executor.js';
import { type QueueMessage } from '../../ports/queue.js';
import { KEEP_CLOSED_MS, type Receipt, type ReceiptWait } from '../../ports/receipts.js';
import { failureOf } from '../traced.js';
import { AttemptWait } from './attempt-wait.js';
import { type RunDeps } from './run-deps.js';
import { type RunTrace } from './run-trace.js';

const RETRY_MS = 500;

export interface AttemptListener {
  /** The target took the attempt over; called before its receipt is awaited. `until`: epoch ms. */
  delivered(evidence: Evidence, until: number): Promise<void>;
  progressed(receipt: Receipt): void;
}

/**
 * One attempt from its request to its outcome: by its executor alone or, where that only delivers it, by the receipt that answers for it.
 * Whoever waits in vain tells the target, if it can be told; a drain and a lost claim are no reason to, since another worker waits on.
 */
export class RunAttempt {
  constructor(
    private readonly deps: RunDeps,
    private readonly message: QueueMessage,
    private readonly own: {
      readonly trace: RunTrace;
      readonly signal: AbortSignal;
      readonly listener: AttemptListener;
      /** Whether the run is still ours for sure; asked last before the target is called. */
      readonly isOurs: () => Promise<boolean>;
    },
  ) {}

  run(executor: Executor, attempt: number): Promise<Outcome> {
    return this.own.trace.attempt(attempt, false, (context) => this.called(executor, attempt, context));
  }

  /** Waits on for an attempt that an earlier worker delivered; `until`: epoch ms. */
  resume(executor: Executor, attempt: number, until: number): Promise<Outcome> {
    const leftMs = Math.max(0, until - this.deps.clock.now());
    return this.own.trace.attempt(attempt, true, (context) =>
      this.receipt(executor, this.request(attempt, leftMs, null, context), {
        wait: null,
        leftMs,
        evidence: {},
      }),
    );
  }

  /** Receipts that come from now on are late. @throws AxError `unavailable`. */
  async close(): Promise<true> {
    const { event, task } = this.message;
    if (awaitsReceipt(task.executor)) await this.deps.receipts.close(event.id, KEEP_CLOSED_MS);
    return true;
  }

  private async called(executor: Executor, attempt: number, context: string): Promise<Outcome> {
    const { clock, tokenHash } = this.deps;
    const { signal, isOurs, listener } = this.own;
    const timeoutMs = this.message.task.policy.timeoutSec * 1000;
    const token = awaitsReceipt(this.message.task.executor) ? tokenHash.newToken() : null;
    const wait = token === null ? null : this.receiptWait(attempt, tokenHash.of(token), timeoutMs);
    if (wait !== null) await this.open(wait);
    if (signal.aborted || !(await isOurs()) || signal.aborted) return this.stopped();
    const request = this.request(attempt, timeoutMs, token, context);
    const startedAt = clock.monotonicMs();
    const outcome = await this.execute(executor, request);
    if (outcome.status !== 'delivered') {
      // A target may have more to say than reached the executor, when the connection broke.
      const mayHaveSaid = wait !== null && outcome.status !== 'success' && !signal.aborted;
      return (mayHaveSaid ? await this.wait().lastWord(outcome, signal) : null) ?? outcome;
    }
    const leftMs = timeoutMs - (clock.monotonicMs() - startedAt);
    await listener.delivered(outcome.evidence, clock.now() + leftMs);
    return this.receipt(executor, request, { wait, leftMs, evidence: outcome.evidence });
  }

  private async execute(executor: Executor, request: ExecutorRequest) {
    try {
      return await executor.execute(request, this.own.signal);
    } catch (error) {
      this.deps.logger.error({ ...this.own.trace.facts, err: error }, 'executor threw, which is a bug');
      const broken: Outcome = {
        status: 'fail',
        reason: 'internal_error',
        message: messageOf(error),
        evidence: {},
      };
      return broken;
    }
  }

  private async receipt(
    executor: Executor,
    request: ExecutorRequest,
    from: { readonly wait: ReceiptWait | null; readonly leftMs: number; readonly evidence: Evidence },
  ): Promise<Outcome> {
    const { trace, signal } = this.own;
    const outcome = await trace.step(
      'await receipt',
      () => this.wait().outcome(from.wait, from.leftMs, from.evidence, signal),
      (end) => ({ attributes: { 'ax.status': end.status }, error: failureOf(end) }),
      request.traceparent,
    );
    const { reason } = outcome;
    if (reason === 'deadline' || reason === 'cancelled' || reason === 'replaced')
      await executor.withdraw?.(request, reason);
    return outcome;
  }

  private wait(): AttemptWait {
    const { receiptDesk: desk, clock } = this.deps;
    const { id } = this.message.event;
    return new AttemptWait({ desk, clock }, id, (receipt) => this.own.listener.progressed(receipt));
  }

  /** Until the store has it: a receipt that came before would be of nothing. */
  private async open(wait: ReceiptWait): Promise<void> {
    const { receipts, clock, logger } = this.deps;
    while (!this.own.signal.aborted) {
      try {
        return await receipts.open(wait);
      } catch (error) {
        logger.warn({ ...this.own.trace.facts, err: error }, 'wait not opened, trying again');
        await clock.sleep(RETRY_MS, this.own.signal);
      }
    }
  }

  private receiptWait(attempt: number, tokenHash: string, timeoutMs: number): ReceiptWait {
    return { executionId: this.message.event.id, attempt, tokenHash, keepMs: timeoutMs + KEEP_CLOSED_MS };
  }

  private request(
    attempt: number,
    timeoutMs: number,
    token: string | null,
    traceparent: string,
  ): ExecutorRequest {
    const { event, task } = this.message;
    const { publicUrl } = this.deps;
    const url = publicUrl === null ? null : `${publicUrl}/api/executions/${event.id}/receipt`;
    return {
      executionId: event.id,
      taskId: task.id,
      spec: task.executor,
      params: task.params,
      slot: event.slot,
      firedAt: event.firedAt,
      attempt,
      timeoutMs,
      traceparent,
      receipt: token === null ? null : { token, url },
    };
  }

  private stopped(): Outcome {
    const reason = this.own.signal.reason as StopReason;
    return { status: 'fail', reason, message: `stopped: ${reason}`, evidence: {} };
  }
}
