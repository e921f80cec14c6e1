/** Every metric ax knows, with its labels, which are bounded sets. Names follow Prometheus: `ax_` is added, seconds and base units. */
export type MetricLabels = CounterLabels & HistogramLabels & GaugeLabels;

type None = Record<string, never>;

/** What is measured by task. Any name may be given: how many have series of their own is bounded behind this port. */
export type TaskLabels = { readonly group: string; readonly task: string };

/** Of a task that was deleted before its run ended. */
export const DELETED_GROUP = '_deleted';

interface CounterLabels {
  triggers_total: { kind: string };
  misfires_total: { policy: string };
  slots_skipped_total: { reason: string };
  duplicates_prevented_total: { line: 'unique_key' | 'slot_lock' | 'claim' };
  task_errors_total: None;
  tick_errors_total: None;
  leader_changes_total: None;
  republished_total: None;
  reclaims_total: None;
  executions_total: TaskLabels & { status: string; reason: string };
  attempts_total: TaskLabels & { status: string; reason: string };
  slow_executions_total: TaskLabels;
  claims_lost_total: None;
  results_applied_total: None;
  prechecks_total: { result: 'passed' | 'failed' };
  post_hooks_total: { result: 'sent' | 'failed' | 'given_up' };
  mq_receipts_total: { answer: string };
  poison_messages_total: { stream: 'queue' | 'results' };
  sql_errors_total: { operation: SqlOperation; code: string };
  sql_retries_total: None;
  redis_errors_total: { code: string };
  metrics_overflow_total: None;
}

export type SqlOperation = 'read' | 'transaction';

interface HistogramLabels {
  trigger_lateness_seconds: TaskLabels;
  scan_duration_seconds: None;
  dispatch_batch_size: None;
  queue_to_start_seconds: TaskLabels;
  execution_duration_seconds: TaskLabels;
  results_lag_seconds: None;
  http_request_duration_seconds: { method: string; route: string; status: string };
  sql_operation_duration_seconds: { operation: SqlOperation };
  redis_operation_duration_seconds: None;
}

interface LeaderGaugeLabels {
  due_backlog: None;
  due_oldest_age_seconds: None;
  dispatch_paused: None;
  unstarted_executions: None;
  task_unstarted_age_seconds: TaskLabels;
  queue_depth: { pool: string; state: 'waiting' | 'taken' };
  queue_oldest_age_seconds: { pool: string };
  results_depth: None;
  results_oldest_age_seconds: None;
  tasks: { enabled: 'true' | 'false' };
  task_last_success_timestamp_seconds: TaskLabels;
  task_last_failure_timestamp_seconds: TaskLabels;
  task_next_trigger_timestamp_seconds: TaskLabels;
  task_updated_timestamp_seconds: TaskLabels;
  tasks_without_worker: None;
  pool_workers: { pool: string };
  calendar_known_until_timestamp_seconds: { calendar: string };
}

interface GaugeLabels extends LeaderGaugeLabels {
  leader: None;
  running_executions: None;
  worker_concurrency: None;
  sql_pool_connections: { state: 'used' | 'free' | 'waiting' };
  build_info: { version: string; node: string; role: string };
  zone_data_info: { version: string };
  zone_data_disagreement: None;
  clock_offset_seconds: None;
  clock_offset_error_seconds: None;
  clock_correction_seconds: None;
  metrics_tasks: None;
}

export type MetricName = keyof MetricLabels;
export type CounterName = keyof CounterLabels;
export type HistogramName = keyof HistogramLabels;
export type GaugeName = keyof GaugeLabels;
export type LeaderGaugeName = keyof LeaderGaugeLabels;

/** In-process measurements; never throws, never waits. A metric that is not of this process's role is passed over. */
export interface Metrics {
  count<N extends CounterName>(name: N, labels: MetricLabels[N], by?: number): void;
  /** `traceparent` of the run that was measured, if it was one: an example of the value. */
  observe<N extends HistogramName>(
    name: N,
    labels: MetricLabels[N],
    value: number,
    traceparent?: string,
  ): void;
  gauge<N extends GaugeName>(name: N, labels: MetricLabels[N], value: number): void;
  /** Forgets all values of a gauge. One without labels is 0 again, or absent if only a leader has it. */
  clear(name: GaugeName): void;
  /** Forgets everything that only a leader may say. */
  clearLeaders(): void;
}
