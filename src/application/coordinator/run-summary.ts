import { type Json } from '../../domain/json.js';
import { type HookDelivery } from '../../ports/hook-repo.js';
import { traceIdOf } from '../../ports/tracer.js';

/** What a post-hook is told of an execution that has ended. Instants are epoch ms. */
export function runSummary(
  execution: NonNullable<HookDelivery['execution']>,
  { taskName, group }: Pick<HookDelivery, 'taskName' | 'group'>,
): Json {
  const { event, status, reason, message, worker, attempt, startedAt, finishedAt } = execution;
  return {
    hook: 'post',
    execution_id: event.id,
    task_id: event.taskId,
    task_name: taskName,
    group,
    kind: event.kind,
    schedule_at: event.slot,
    fired_at: event.firedAt,
    misfire: event.isMisfire,
    status,
    reason,
    message,
    attempt,
    worker,
    started_at: startedAt,
    finished_at: finishedAt,
    duration_ms: startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt),
    trace_id: traceIdOf(event.traceparent),
  };
}
