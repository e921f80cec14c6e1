import { type ExecutionReport } from '../domain/execution.js';
import { DELETED_GROUP, type Metrics, type TaskLabels } from '../ports/metrics.js';

/** What is known of a task for its measurements. */
interface MeasuredTask {
  readonly id: string;
  readonly group: string;
}

export const taskLabels = ({ id, group }: MeasuredTask): TaskLabels => ({ group, task: id });

/** Counts the end of an execution. To be called by the one whose word ended it, so that over all nodes each is counted once. */
export function countEnded(
  metrics: Metrics,
  { taskId: task, status, reason }: Pick<ExecutionReport, 'taskId' | 'status' | 'reason'>,
  group: string = DELETED_GROUP,
): void {
  metrics.count('executions_total', { group, task, status, reason: reason ?? 'none' });
}
