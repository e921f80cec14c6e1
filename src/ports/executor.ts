import { type Outcome } from '../domain/execution.js';
import { type ExecutorSpec, type ExecutorType } from '../domain/executor-spec.js';
import { type Json } from '../domain/json.js';

export interface ExecutorRequest {
  readonly executionId: string;
  readonly taskId: string;
  readonly spec: ExecutorSpec;
  readonly params: Json;
  /** Expected instant of the run, epoch ms. */
  readonly slot: number;
  /** Actual instant of the trigger, epoch ms. */
  readonly firedAt: number;
  readonly attempt: number;
  readonly timeoutMs: number;
  /** W3C Trace Context of this attempt. */
  readonly traceparent: string;
}

/** Why a run is stopped from outside; the first reason is kept. Passed as the abort reason of the signal. */
export type StopReason = 'cancelled' | 'drained' | 'claim_lost';

/**
 * Runs one attempt and says what the target did. Resolves exactly once with one of success, fail or timeout, within `timeoutMs` plus
 * the time to clean up; nothing of the attempt runs on afterwards. An abort of `signal` (its reason is a StopReason) ends the attempt
 * as `fail` with that reason; an attempt that was aborted or timed out is never `success`. Throws only on bugs.
 */
export interface Executor {
  readonly type: ExecutorType;
  execute(request: ExecutorRequest, signal: AbortSignal): Promise<Outcome>;
  /** Ends connections that are kept between attempts. */
  close(): Promise<void>;
}
