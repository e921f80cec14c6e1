/** Every metric ax knows, with its labels, which are bounded sets. Names follow Prometheus: `ax_` is added, seconds and base units. */
export type MetricLabels = CounterLabels & HistogramLabels & GaugeLabels;

interface CounterLabels {
  triggers_total: { kind: string };
  misfires_total: { policy: string };
  slots_skipped_total: { reason: string };
  duplicates_prevented_total: { line: 'unique_key' | 'slot_lock' | 'claim' };
  task_errors_total: Record<string, never>;
  tick_errors_total: Record<string, never>;
  leader_changes_total: Record<string, never>;
  republished_total: Record<string, never>;
  reclaims_total: Record<string, never>;
  executions_total: { status: string; reason: string };
  attempts_total: { status: string; reason: string };
  slow_executions_total: { group: string };
  claims_lost_total: Record<string, never>;
  results_applied_total: Record<string, never>;
  prechecks_total: { result: 'passed' | 'failed' };
  post_hooks_total: { result: 'sent' | 'failed' | 'given_up' };
  mq_receipts_total: { answer: string };
  poison_messages_total: { stream: 'queue' | 'results' };
}

interface HistogramLabels {
  trigger_lateness_seconds: Record<string, never>;
  scan_duration_seconds: Record<string, never>;
  dispatch_batch_size: Record<string, never>;
  queue_to_start_seconds: Record<string, never>;
  execution_duration_seconds: { group: string };
  results_lag_seconds: Record<string, never>;
  http_request_duration_seconds: { method: string; route: string; status: string };
}

interface GaugeLabels {
  leader: Record<string, never>;
  due_backlog: Record<string, never>;
  queue_depth: Record<string, never>;
  results_depth: Record<string, never>;
  dispatch_paused: Record<string, never>;
  running_executions: Record<string, never>;
  tasks_without_worker: Record<string, never>;
  pool_workers: { pool: string };
  zone_data_info: { version: string };
  clock_offset_seconds: Record<string, never>;
  clock_offset_error_seconds: Record<string, never>;
  clock_correction_seconds: Record<string, never>;
}

export type MetricName = keyof MetricLabels;
export type CounterName = keyof CounterLabels;
export type HistogramName = keyof HistogramLabels;
export type GaugeName = keyof GaugeLabels;

/** In-process measurements; never throws, never waits. */
export interface Metrics {
  count<N extends CounterName>(name: N, labels: MetricLabels[N], by?: number): void;
  observe<N extends HistogramName>(name: N, labels: MetricLabels[N], value: number): void;
  gauge<N extends GaugeName>(name: N, labels: MetricLabels[N], value: number): void;
  /** Forgets all values of a gauge with labels; one without them is 0 again. */
  clear(name: GaugeName): void;
}
