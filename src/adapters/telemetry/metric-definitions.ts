import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type MetricLabels,
  type MetricName,
} from '../../ports/metrics.js';

/** Every label of a metric with what it holds; checked against MetricLabels, none missing and none more. */
type LabelMeanings<N extends MetricName> = string extends keyof MetricLabels[N]
  ? Readonly<Record<string, never>>
  : { readonly [L in keyof MetricLabels[N]]: string };

interface Definition<N extends MetricName> {
  readonly help: string;
  readonly labels: LabelMeanings<N>;
}

interface HistogramDefinition<N extends HistogramName> extends Definition<N> {
  /** Upper bounds, in the unit of the metric. */
  readonly buckets: readonly number[];
}

/** 1 ms to 5 min, with the default trigger window of 5 s among the bounds. */
const LATENCY = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
] as const;
/** 0.5 ms to 10 s. */
const QUERY = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** 5 ms to 6 h. */
const RUN = [
  0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600,
] as const;

export const COUNTERS: { readonly [N in CounterName]: Definition<N> } = {
  triggers_total: { help: 'Trigger events recorded.', labels: { kind: 'schedule or manual' } },
  misfires_total: { help: 'Slots decided after their window.', labels: { policy: 'misfire policy' } },
  slots_skipped_total: { help: 'Slots recorded without a run.', labels: { reason: 'why' } },
  duplicates_prevented_total: {
    help: 'Second events or runs of one slot that were refused.',
    labels: { line: 'which line of defence caught it' },
  },
  task_errors_total: { help: 'Tasks that could not be triggered as stored.', labels: {} },
  tick_errors_total: { help: 'Ticks that failed.', labels: {} },
  leader_changes_total: { help: 'Times this node gained or lost leadership.', labels: {} },
  republished_total: { help: 'Events published again because no worker reported.', labels: {} },
  reclaims_total: { help: 'Runs taken over from another worker.', labels: {} },
  executions_total: {
    help: 'Executions ended by this worker.',
    labels: { status: 'final status', reason: 'its reason, or none' },
  },
  attempts_total: {
    help: 'Attempts ended.',
    labels: { status: 'success, fail or timeout', reason: 'its reason, or none' },
  },
  slow_executions_total: {
    help: 'Runs that took longer than their slow_after_sec.',
    labels: { group: 'of the task' },
  },
  claims_lost_total: { help: 'Runs stopped because their claim was lost.', labels: {} },
  results_applied_total: { help: 'Reports written to the execution store.', labels: {} },
  prechecks_total: { help: 'Checks of pre-hooks.', labels: { result: 'passed or failed' } },
  post_hooks_total: {
    help: 'Tries to tell a post-hook.',
    labels: { result: 'sent, failed (and tried again) or given_up' },
  },
  mq_receipts_total: {
    help: 'Receipts taken from reply queues.',
    labels: { answer: 'accepted, or why it counted for nothing' },
  },
  poison_messages_total: {
    help: 'Messages dropped because they cannot be decoded.',
    labels: { stream: 'queue or results' },
  },
};

export const HISTOGRAMS: { readonly [N in HistogramName]: HistogramDefinition<N> } = {
  trigger_lateness_seconds: {
    help: 'From the slot, with its jitter, to the recorded trigger.',
    labels: {},
    buckets: LATENCY,
  },
  scan_duration_seconds: {
    help: 'One transaction that selects, decides and advances due tasks.',
    labels: {},
    buckets: QUERY,
  },
  dispatch_batch_size: {
    help: 'Trigger events published at once.',
    labels: {},
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  },
  queue_to_start_seconds: {
    help: 'From publishing to the start of the run.',
    labels: {},
    buckets: LATENCY,
  },
  execution_duration_seconds: {
    help: 'From the start of the first attempt to the final result.',
    labels: { group: 'of the task' },
    buckets: RUN,
  },
  results_lag_seconds: {
    help: "From a worker's report to its writing to the execution store.",
    labels: {},
    buckets: LATENCY,
  },
  http_request_duration_seconds: {
    help: "Requests to this node's API.",
    labels: { method: 'HTTP method', route: 'its pattern, never the path', status: 'HTTP status' },
    buckets: QUERY,
  },
};

export const GAUGES: { readonly [N in GaugeName]: Definition<N> } = {
  leader: { help: '1 on the leading coordinator, else 0.', labels: {} },
  due_backlog: { help: 'Tasks that are due and not yet triggered.', labels: {} },
  queue_depth: { help: 'Messages not yet finished, over all pools.', labels: {} },
  results_depth: { help: 'Reports not yet written to the execution store.', labels: {} },
  dispatch_paused: { help: '1 while the queue is too deep to dispatch, else 0.', labels: {} },
  running_executions: { help: 'Runs in progress on this worker.', labels: {} },
  tasks_without_worker: {
    help: 'Enabled tasks whose pool and type of executor no live worker serves; only on the leader.',
    labels: {},
  },
  pool_workers: {
    help: 'Live workers of the pool, draining ones not counted; only on the leader.',
    labels: { pool: 'its name; _other: those beyond the first hundred' },
  },
  zone_data_info: {
    help: 'Always 1; replicas with different time zone data may compute different fire times.',
    labels: { version: 'of the time zone data, such as 2025c' },
  },
  clock_offset_seconds: { help: "Time reference − this machine's wall clock.", labels: {} },
  clock_offset_error_seconds: { help: 'How far off clock_offset_seconds may be.', labels: {} },
  clock_correction_seconds: {
    help: "Time reference − this node's corrected time; above 1 only when the reference was set or replaced.",
    labels: {},
  },
};
