import { type Execution, type LedgerEntry } from '../../domain/execution.js';
import { type PoolStatus } from '../../application/pools/live-workers.js';
import { traceIdOf } from '../../ports/tracer.js';
import { attemptsOf } from './attempts.js';
import { poolStatusJson } from './worker-routes.js';

/** The JSON of an execution as lists show it. All instants are epoch ms; `schedule_at` is the slot. */
export function executionJson(execution: Execution): Readonly<Record<string, unknown>> {
  const { event } = execution;
  return {
    id: event.id,
    task_id: event.taskId,
    kind: event.kind,
    status: execution.status,
    reason: execution.reason,
    schedule_at: event.slot,
    window_start: event.windowStart,
    window_end: event.windowEnd,
    fired_at: event.firedAt,
    started_at: execution.startedAt,
    finished_at: execution.finishedAt,
    retry_times: Math.max(0, execution.attempt - 1),
    attempt: execution.attempt,
    error_msg: execution.message,
    worker: execution.worker,
    node: event.node,
    misfire: event.isMisfire,
    range_end: event.rangeEnd,
    generation: execution.generation,
    trace_id: traceIdOf(event.traceparent),
    evidence: execution.evidence,
  };
}

/** The JSON of a single execution: with its attempts and its ledger, and while it is pending whether its task finds a worker. */
export const executionDetailJson = (
  found: { readonly execution: Execution; readonly ledger: readonly LedgerEntry[] },
  poolStatus: PoolStatus | null,
): Readonly<Record<string, unknown>> => ({
  ...executionJson(found.execution),
  attempts: attemptsOf(found.ledger),
  pool_status: poolStatusJson(poolStatus),
  ledger: found.ledger.map(({ kind, at, node, detail }) => ({ kind, at, node, detail })),
});
