import { type ExecutionReport } from '../domain/execution.js';
import { type TriggerEvent } from '../domain/trigger.js';
import { type SpanFacts, type Tracer } from '../ports/tracer.js';

interface Told {
  /** Trace context of the caller of a manual run. */
  readonly parent?: string | null;
  readonly group?: string | undefined;
  /** What was recorded instead of a run. */
  readonly skip?: ExecutionReport;
}

/** The decision of one slot, up to its commit at `committedAt` (epoch ms), as a span. */
export function recordTrigger(tracer: Tracer, event: TriggerEvent, committedAt: number, told: Told): void {
  const startedAt = event.firedAt;
  const times = () => ({ startedAt, endedAt: Math.max(startedAt, committedAt) });
  tracer.record(event.traceparent, times, () => factsOf(event, told));
}

const factsOf = (event: TriggerEvent, { parent = null, group, skip }: Told): SpanFacts => ({
  name: 'trigger',
  kind: 'internal',
  parent,
  attributes: {
    'ax.task.id': event.taskId,
    'ax.task.group': group,
    'ax.execution.id': event.id,
    'ax.trigger.kind': event.kind,
    'ax.trigger.slot': event.slot,
    'ax.trigger.window_start': event.windowStart,
    'ax.trigger.window_end': event.windowEnd,
    'ax.trigger.lateness_ms': Math.max(0, event.firedAt - event.windowStart),
    'ax.trigger.misfire': event.isMisfire,
    'ax.node': event.node,
    'ax.status': skip?.status,
    'ax.reason': skip?.reason ?? undefined,
  },
});
