import { type ExecutionReport } from '../domain/execution.js';
import { type TriggerEvent } from '../domain/trigger.js';
import { type Span } from '../ports/tracer.js';

/** The decision of one slot, up to its commit at `endedAt` (epoch ms). `skip`: what was recorded instead of a run. */
export const triggerSpan = (
  event: TriggerEvent,
  endedAt: number,
  {
    parent = null,
    group,
    skip,
  }: {
    readonly parent?: string | null;
    readonly group?: string | undefined;
    readonly skip?: ExecutionReport;
  } = {},
): Span => ({
  name: 'trigger',
  kind: 'internal',
  parent,
  startedAt: event.firedAt,
  endedAt: Math.max(event.firedAt, endedAt),
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
