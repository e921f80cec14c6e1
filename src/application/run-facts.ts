import { type ExecutionReport } from '../domain/execution.js';
import { type TriggerEvent } from '../domain/trigger.js';
import { traceIdOf } from '../ports/tracer.js';

/** The ids of a run, on each of its log lines. */
export const runFacts = ({
  taskId,
  id,
  traceparent,
}: Pick<TriggerEvent, 'taskId' | 'id' | 'traceparent'>) => ({
  task_id: taskId,
  execution_id: id,
  trace_id: traceIdOf(traceparent),
});

/** What was decided for one slot. Instants are epoch ms. */
export const triggerFacts = (event: TriggerEvent) => ({
  ...runFacts(event),
  kind: event.kind,
  schedule_at: event.slot,
  window_start: event.windowStart,
  window_end: event.windowEnd,
  fired_at: event.firedAt,
  lateness_ms: Math.max(0, event.firedAt - event.windowStart),
  misfire: event.isMisfire,
});

/** What became of a run. `duration_ms`: from the start of the first attempt; null if there was none. */
export const endFacts = ({
  status,
  reason,
  attempt,
  startedAt,
  finishedAt,
  generation,
}: ExecutionReport) => ({
  status,
  reason: reason ?? 'none',
  attempts: attempt,
  generation,
  duration_ms: startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt),
});
