import { type UnsettledExecution } from '../../ports/execution-repo.js';
import { DELETED_GROUP, type Metrics, type TaskLabels } from '../../ports/metrics.js';
import { type RunState } from '../../ports/queue.js';

/** Tasks with a series of their own, those with the oldest runs. */
const MAX_TASKS = 100;

/** Runs that wait for a worker, as one sweep meets them. */
export class UnstartedRuns {
  private count = 0;
  /** By task, since when its oldest one was triggered, epoch ms. */
  private readonly oldest = new Map<string, { readonly labels: TaskLabels; readonly firedAt: number }>();

  note({ execution: { event, status }, task }: UnsettledExecution, state: RunState | undefined): void {
    if (status !== 'pending' || (state !== 'queued' && state !== 'unknown')) return;
    this.count += 1;
    const { taskId, firedAt } = event;
    if ((this.oldest.get(taskId)?.firedAt ?? Infinity) <= firedAt) return;
    this.oldest.set(taskId, { labels: { group: task?.group ?? DELETED_GROUP, task: taskId }, firedAt });
  }

  tell(metrics: Metrics, now: number): void {
    const oldest = [...this.oldest.values()].sort((a, b) => a.firedAt - b.firedAt);
    metrics.gauge('unstarted_executions', {}, this.count);
    metrics.clear('task_unstarted_age_seconds');
    for (const { labels, firedAt } of oldest.slice(0, MAX_TASKS))
      metrics.gauge('task_unstarted_age_seconds', labels, Math.max(0, now - firedAt) / 1000);
  }
}

/** What is not known is absent. */
export function forgetUnstarted(metrics: Metrics): void {
  metrics.clear('unstarted_executions');
  metrics.clear('task_unstarted_age_seconds');
}
