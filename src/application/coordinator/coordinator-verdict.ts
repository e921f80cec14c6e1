import { type ExecutionReport } from '../../domain/execution.js';
import { type TriggerEvent } from '../../domain/trigger.js';

/** The terminal report of an event that the coordinator ends itself. */
export function coordinatorVerdict(
  event: TriggerEvent,
  verdict: Pick<ExecutionReport, 'status' | 'reason' | 'message'> & {
    readonly detail?: Readonly<Record<string, unknown>>;
    readonly at?: number;
    readonly node?: string;
  },
): ExecutionReport {
  const at = verdict.at ?? event.firedAt;
  const { status, reason, message } = verdict;
  return {
    executionId: event.id,
    taskId: event.taskId,
    generation: 0,
    seq: 0,
    status,
    reason,
    message,
    worker: null,
    attempt: 0,
    startedAt: null,
    finishedAt: at,
    evidence: {},
    entry: {
      kind: 'finished',
      at,
      node: verdict.node ?? event.node,
      detail: { attempt: 0, status, reason, message, ...verdict.detail },
    },
    traceparent: event.traceparent,
  };
}

/** The end of an event whose slot the queue knows from another one: the first line of defence held where the second did not. */
export const duplicateVerdict = (event: TriggerEvent, at: number, node: string): ExecutionReport =>
  coordinatorVerdict(event, {
    status: 'skipped',
    reason: 'duplicate',
    message: 'another event of the same slot was published before',
    at,
    node,
  });
