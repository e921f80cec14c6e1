import { awaitsReceipt } from '../../domain/executor-spec.js';
import { messageOf } from '../../domain/errors.js';
import { type Evidence, type Outcome } from '../../domain/execution.js';
import { type Executor, type ExecutorRequest, type StopReason } from '../../ports/executor.js';
import { type QueueMessage } from '../../ports/queue.js';
import { KEEP_CLOSED_MS, type Receipt, type ReceiptWait } from '../../ports/receipts.js';
import { traceIdOf } from '../../ports/tracer.js';
import { AttemptWait } from './attempt-wait.js';
import { type RunDeps } from './run-deps.js';

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
    private readonly signal: AbortSignal,
    private readonly listener: AttemptListener,
    /** Whether the run is still ours for sure; asked last before the target is called. */
    private readonly isOurs: () => Promise<boolean>,
  ) {}

  async run(executor: Executor, attempt: number): Promise<Outcome> {
    const { clock, tokenHash } = this.deps;
    const timeoutMs = this.message.task.policy.timeoutSec * 1000;
    const token = awaitsReceipt(this.message.task.executor) ? tokenHash.newToken() : null;
    const wait = token === null ? null : this.receiptWait(attempt, tokenHash.of(token), timeoutMs);
    if (wait !== null) await this.open(wait);
    if (this.signal.aborted || !(await this.isOurs()) || this.signal.aborted) return this.stopped();
    const request = this.request(attempt, timeoutMs, token);
    const startedAt = clock.monotonicMs();
    const outcome = await this.execute(executor, request);
    if (outcome.status !== 'delivered') {
      // A target may have more to say than reached the executor, when the connection broke.
      const mayHaveSaid = wait !== null && outcome.status !== 'success' && !this.signal.aborted;
      return (mayHaveSaid ? await this.wait().lastWord(outcome, this.signal) : null) ?? outcome;
    }
    const leftMs = timeoutMs - (clock.monotonicMs() - startedAt);
    await this.listener.delivered(outcome.evidence, clock.now() + leftMs);
    return this.receipt(executor, request, { wait, leftMs, evidence: outcome.evidence });
  }

  /** Waits on for an attempt that an earlier worker delivered; `until`: epoch ms. */
  async resume(executor: Executor, attempt: number, until: number): Promise<Outcome> {
    const leftMs = Math.max(0, until - this.deps.clock.now());
    return this.receipt(executor, this.request(attempt, leftMs, null), { wait: null, leftMs, evidence: {} });
  }

  /** Receipts that come from now on are late. @throws AxError `unavailable`. */
  async close(): Promise<true> {
    const { event, task } = this.message;
    if (awaitsReceipt(task.executor)) await this.deps.receipts.close(event.id, KEEP_CLOSED_MS);
    return true;
  }

  private async execute(executor: Executor, request: ExecutorRequest) {
    try {
      return await executor.execute(request, this.signal);
    } catch (error) {
      const { id, taskId, traceparent } = this.message.event;
      const facts = { task_id: taskId, execution_id: id, trace_id: traceIdOf(traceparent) };
      this.deps.logger.error({ ...facts, err: error }, 'executor threw, which is a bug');
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
    const outcome = await this.wait().outcome(from.wait, from.leftMs, from.evidence, this.signal);
    const { reason } = outcome;
    if (reason === 'deadline' || reason === 'cancelled' || reason === 'replaced')
      await executor.withdraw?.(request, reason);
    return outcome;
  }

  private wait(): AttemptWait {
    const { receiptDesk: desk, clock } = this.deps;
    const { id } = this.message.event;
    return new AttemptWait({ desk, clock }, id, (receipt) => this.listener.progressed(receipt));
  }

  /** Until the store has it: a receipt that came before would be of nothing. */
  private async open(wait: ReceiptWait): Promise<void> {
    const { receipts, clock, logger } = this.deps;
    while (!this.signal.aborted) {
      try {
        return await receipts.open(wait);
      } catch (error) {
        logger.warn({ execution_id: wait.executionId, err: error }, 'wait not opened, trying again');
        await clock.sleep(RETRY_MS, this.signal);
      }
    }
  }

  private receiptWait(attempt: number, tokenHash: string, timeoutMs: number): ReceiptWait {
    return { executionId: this.message.event.id, attempt, tokenHash, keepMs: timeoutMs + KEEP_CLOSED_MS };
  }

  private request(attempt: number, timeoutMs: number, token: string | null): ExecutorRequest {
    const { event, task } = this.message;
    const { publicUrl, tracer } = this.deps;
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
      traceparent: tracer.child(event.traceparent),
      receipt: token === null ? null : { token, url },
    };
  }

  private stopped(): Outcome {
    const reason = this.signal.reason as StopReason;
    return { status: 'fail', reason, message: `stopped: ${reason}`, evidence: {} };
  }
}
