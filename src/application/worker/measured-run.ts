import { type ExecutionReport, type Outcome } from '../../domain/execution.js';
import { type Metrics } from '../../ports/metrics.js';
import { type QueueMessage } from '../../ports/queue.js';
import { countEnded, taskLabels } from '../count-ended.js';

/** What one run adds to the measurements of its task. */
export class MeasuredRun {
  constructor(
    private readonly metrics: Metrics,
    private readonly message: QueueMessage,
  ) {}

  /** The first start, epoch ms. */
  began(at: number): void {
    const { publishedAt } = this.message;
    this.observe('queue_to_start_seconds', at - publishedAt);
  }

  attempted({ status, reason }: Outcome): void {
    const labels = { ...taskLabels(this.message.task), status, reason: reason ?? 'none' };
    this.metrics.count('attempts_total', labels);
  }

  /** `report` is the final one, and it counted. */
  ended(report: ExecutionReport): void {
    const { startedAt, finishedAt } = report;
    countEnded(this.metrics, report, this.message.task.group);
    if (startedAt !== null && finishedAt !== null)
      this.observe('execution_duration_seconds', finishedAt - startedAt);
  }

  private observe(name: 'queue_to_start_seconds' | 'execution_duration_seconds', ms: number): void {
    const { event, task } = this.message;
    this.metrics.observe(name, taskLabels(task), Math.max(0, ms) / 1000, event.traceparent);
  }
}
