import { type Histograms, OF_TASK } from './metric-definition.js';

/** 1 ms to an hour, with the default trigger window of 5 s among the bounds. */
const DELAY = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
] as const;
/** 1 ms to 4 h. */
const RUN = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 14_400,
] as const;
/** 0.5 ms to 10 s. */
const QUERY = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** 1 ms to 30 s. */
const REQUEST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export const HISTOGRAMS: Histograms = {
  trigger_lateness_seconds: {
    by: 'coordinator',
    help: 'From the slot, with its jitter, to fired_at; scheduled runs only.',
    labels: OF_TASK,
    buckets: DELAY,
  },
  scan_duration_seconds: {
    by: 'coordinator',
    help: 'One transaction that selects, decides and advances due tasks, also when none is due.',
    labels: {},
    buckets: QUERY,
  },
  dispatch_batch_size: {
    by: 'coordinator',
    help: 'Trigger events of one turn of the tick.',
    labels: {},
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  },
  queue_to_start_seconds: {
    by: 'worker',
    help: 'From publishing to the first start of a run, with the wait for its turn and its check.',
    labels: OF_TASK,
    buckets: DELAY,
  },
  execution_duration_seconds: {
    by: 'worker',
    help: 'From the start of a run, on the worker that ended it, to its end.',
    labels: OF_TASK,
    buckets: RUN,
  },
  results_lag_seconds: {
    by: 'coordinator',
    help: 'From the end of a run to the writing of its final report.',
    labels: {},
    buckets: DELAY,
  },
  http_request_duration_seconds: {
    by: 'every',
    help: 'Requests to this process.',
    labels: {
      method: 'HTTP method',
      route: 'its pattern, never the path',
      status: 'HTTP status, or aborted',
    },
    buckets: REQUEST,
  },
  sql_operation_duration_seconds: {
    by: 'coordinator',
    help: 'Reads and transactions on MySQL or SQLite, with the wait for a connection, also failed ones.',
    labels: { operation: 'read or transaction' },
    buckets: QUERY,
  },
  redis_operation_duration_seconds: {
    by: 'every',
    help: 'Commands and scripts on Redis, also failed ones; reads that wait for messages left out.',
    labels: {},
    buckets: QUERY,
  },
};
