import { type Evidence, type Outcome } from '../domain/execution.js';
import { type ExecutorSpec } from '../domain/executor-spec.js';
import { type Json } from '../domain/json.js';

export interface ExecutorRequest<Spec extends ExecutorSpec = ExecutorSpec> {
  readonly executionId: string;
  readonly taskId: string;
  readonly spec: Spec;
  readonly params: Json;
  /** Expected instant of the run, epoch ms. */
  readonly slot: number;
  /** Actual instant of the trigger, epoch ms. */
  readonly firedAt: number;
  readonly attempt: number;
  readonly timeoutMs: number;
  /** W3C Trace Context of this attempt. */
  readonly traceparent: string;
  /** What the target needs to send the receipt of this attempt; null unless the executor's `ack` is `receipt`. */
  readonly receipt: ReceiptAddress | null;
  /** The call or message is one of a hook; absent: it is the attempt itself. */
  readonly hook?: HookMessage;
}

/** What is sent for a hook instead of an attempt's own message; `attempt` then counts the tries of the hook. */
export interface HookMessage {
  readonly kind: 'pre' | 'post';
  /** Idempotency key or message id. */
  readonly key: string;
  readonly body: Json;
}

/** How the business side answers for an attempt. */
export interface ReceiptAddress {
  /** Proves that a receipt comes from whom ax asked; of this attempt only. */
  readonly token: string;
  /** Where to post it; null if the API's own address is not configured. */
  readonly url: string | null;
}

/** The target took the attempt over, and a receipt will say what it came to. */
export interface Delivered {
  readonly status: 'delivered';
  readonly evidence: Evidence;
}

/** Why a run is stopped from outside; the first reason is kept. Passed as the abort reason of the signal. */
export type StopReason = 'cancelled' | 'replaced' | 'drained' | 'claim_lost';

/**
 * Runs one attempt and says what the target did. Resolves exactly once with one of success, fail or timeout, within `timeoutMs` plus
 * the time to clean up; nothing of the attempt runs on afterwards. An abort of `signal` (its reason is a StopReason) ends the attempt
 * as `fail` with that reason; an attempt that was aborted or timed out is never `success`. `delivered` only if the request has a receipt
 * address. Throws only on bugs.
 */
export interface Executor<Spec extends ExecutorSpec = ExecutorSpec> {
  readonly type: Spec['type'];
  execute(request: ExecutorRequest<Spec>, signal: AbortSignal): Promise<Outcome | Delivered>;
  /**
   * Tells the target of a delivered attempt that nobody waits for its receipt any more. Absent: this kind of target cannot be told.
   * Best effort, bounded in time, never throws.
   */
  withdraw?(request: ExecutorRequest<Spec>, reason: StopReason | 'deadline'): Promise<void>;
  /** Ends connections that are kept between attempts. */
  close(): Promise<void>;
}
