import { type Gauges, OF_TASK } from './metric-definition.js';

const POOL = 'its name; _other: those beyond the first hundred';

export const GAUGES: Gauges = {
  leader: { by: 'coordinator', help: '1 on the leading coordinator, else 0.', labels: {} },
  due_backlog: {
    by: 'leader',
    help: 'Enabled tasks with a slot that has come and is not decided, held-back ones included.',
    labels: {},
  },
  due_oldest_age_seconds: {
    by: 'leader',
    help: 'How long the oldest undecided slot has been due.',
    labels: {},
  },
  dispatch_paused: {
    by: 'leader',
    help: '1 while the queue is too deep to dispatch, else 0.',
    labels: {},
  },
  unstarted_executions: {
    by: 'leader',
    help: 'Runs triggered over ten seconds ago that wait for a worker, and not for their turn.',
    labels: {},
  },
  task_unstarted_age_seconds: {
    by: 'leader',
    help: 'Age of the oldest run of a task that waits for a worker; only tasks that have any.',
    labels: OF_TASK,
  },
  queue_depth: {
    by: 'leader',
    help: 'Messages that are not finished.',
    labels: { pool: POOL, state: 'waiting for a worker, or taken by one' },
  },
  queue_oldest_age_seconds: {
    by: 'leader',
    help: 'How long the oldest waiting message of a pool has waited.',
    labels: { pool: POOL },
  },
  results_depth: { by: 'leader', help: 'Reports not yet written to the execution store.', labels: {} },
  results_oldest_age_seconds: {
    by: 'leader',
    help: 'How long the oldest report not yet written has waited.',
    labels: {},
  },
  tasks: { by: 'leader', help: 'Tasks.', labels: { enabled: 'true or false' } },
  task_last_success_timestamp_seconds: {
    by: 'leader',
    help: 'End of the newest run of an enabled task that succeeded.',
    labels: OF_TASK,
  },
  task_last_failure_timestamp_seconds: {
    by: 'leader',
    help: 'End of the newest run of an enabled task that ended as fail or timeout.',
    labels: OF_TASK,
  },
  task_next_trigger_timestamp_seconds: {
    by: 'leader',
    help: 'Oldest undecided slot of an enabled task; in the past it is overdue.',
    labels: OF_TASK,
  },
  task_updated_timestamp_seconds: {
    by: 'leader',
    help: 'When an enabled task was made, changed or enabled last.',
    labels: OF_TASK,
  },
  tasks_without_worker: {
    by: 'leader',
    help: 'Enabled tasks whose pool and type of executor no live worker serves.',
    labels: {},
  },
  pool_workers: {
    by: 'leader',
    help: 'Live workers of the pool, draining ones not counted.',
    labels: { pool: POOL },
  },
  running_executions: { by: 'worker', help: 'Runs in progress on this worker.', labels: {} },
  worker_concurrency: { by: 'worker', help: 'Most runs at a time on this worker.', labels: {} },
  sql_pool_connections: {
    by: 'coordinator',
    help: 'Connections to MySQL or SQLite, and calls that wait for one.',
    labels: { state: 'used, free, or waiting for one' },
  },
  build_info: {
    by: 'every',
    help: 'Always 1.',
    labels: { version: 'of ax', node: 'name of the node', role: 'all, coordinator or worker' },
  },
  calendar_known_until_timestamp_seconds: {
    by: 'leader',
    help: 'When the known days of a calendar end; of the hundred calendars that end first.',
    labels: { calendar: 'its name' },
  },
  zone_data_info: {
    by: 'every',
    help: 'Always 1; replicas with different time zone data may compute different fire times.',
    labels: { version: 'of the time zone data, such as 2025c' },
  },
  zone_data_disagreement: {
    by: 'coordinator',
    help: "Live nodes whose time zone data differs from this node's.",
    labels: {},
  },
  clock_offset_seconds: {
    by: 'every',
    help: "Time reference − this machine's wall clock.",
    labels: {},
  },
  clock_offset_error_seconds: {
    by: 'every',
    help: 'How far off clock_offset_seconds may be.',
    labels: {},
  },
  clock_correction_seconds: {
    by: 'every',
    help: "Time reference − this node's corrected time; above 1 only when the reference was set or replaced.",
    labels: {},
  },
  metrics_tasks: {
    by: 'every',
    help: 'Tasks, or groups, with series of their own on this node.',
    labels: {},
  },
};
