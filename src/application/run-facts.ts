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
