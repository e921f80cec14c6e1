import { build, manyValuesOf } from './board.js';
import { onTime } from './on-time.js';
import { chart, note, table } from './panels.js';
import { OF_GROUP, OF_NAMESPACE, ofLeader, percentiles, sum } from './series.js';

const NO_LEADER = 'No leader tells. Does a coordinator lead, and is it scraped?';

const queue = [
  chart({
    title: 'Queue',
    tells:
      'Messages of each pool that wait for a worker, and that one has taken. Their sum is what AX_QUEUE_LIMIT bounds.',
    unit: 'none',
    queries: [[ofLeader('ax_queue_depth', OF_NAMESPACE, 'pool, state'), '{{pool}} {{state}}']],
    empty: NO_LEADER,
    isStacked: true,
  }),
  chart({
    title: 'Oldest message',
    tells: 'How long the oldest waiting message of a pool has waited. AxQueueOld fires beyond a minute.',
    unit: 's',
    queries: [[ofLeader('ax_queue_oldest_age_seconds', OF_NAMESPACE, 'pool'), '{{pool}}']],
    empty: NO_LEADER,
  }),
  chart({
    title: 'From the queue to the first start',
    tells: 'From publishing to the start of a run on a worker, with its wait for its turn and its check.',
    unit: 's',
    queries: percentiles('ax_queue_to_start_seconds', OF_GROUP),
    empty: 'No run began in this time.',
    hasExemplars: true,
  }),
  chart({
    title: 'Live workers',
    tells: 'Workers that serve a pool; draining ones are not counted. 0: the runs of this pool wait.',
    unit: 'none',
    queries: [[ofLeader('ax_pool_workers', OF_NAMESPACE, 'pool'), '{{pool}}']],
    empty: NO_LEADER,
  }),
  chart({
    title: 'Room of the workers',
    tells:
      'Share of their concurrency that is in use, of all workers and of each one. Near 1 runs wait: add workers, or raise AX_WORKER_CONCURRENCY.',
    unit: 'percentunit',
    queries: [
      [`sum(ax_running_executions{${OF_NAMESPACE}}) / sum(ax_worker_concurrency{${OF_NAMESPACE}})`, 'all'],
      [`ax_running_executions{${OF_NAMESPACE}} / ax_worker_concurrency{${OF_NAMESPACE}}`, '{{instance}}'],
    ],
    empty: 'No worker is scraped.',
  }),
  chart({
    title: 'Not begun after ten seconds',
    tells:
      'Runs triggered over ten seconds ago that no worker has begun, those that wait for their turn left out.',
    unit: 'none',
    queries: [[ofLeader('ax_unstarted_executions', OF_NAMESPACE), 'runs']],
    empty: NO_LEADER,
  }),
];

const leading = [
  chart({
    title: 'Who leads',
    tells: '1 on the coordinator that leads.',
    unit: 'none',
    queries: [[`ax_leader{${OF_NAMESPACE}}`, '{{instance}}']],
    empty: 'No coordinator is scraped.',
    isStacked: true,
  }),
  chart({
    title: 'Changes of leaders',
    tells: 'How often a node became leader. Each should have a reason: a rollout, a crash.',
    unit: 'none',
    queries: [[`sum(increase(ax_leader_changes_total{${OF_NAMESPACE}}[$__rate_interval]))`, 'changes']],
    empty: 'No coordinator is scraped.',
    isBars: true,
  }),
  chart({
    title: 'Dispatch paused',
    tells: '1 while the queue is too deep, so that due slots wait in the store.',
    unit: 'none',
    queries: [[ofLeader('ax_dispatch_paused', OF_NAMESPACE), 'paused']],
    empty: NO_LEADER,
  }),
];

const lastOf = (what: string): string =>
  ofLeader(`ax_task_last_${what}_timestamp_seconds`, OF_GROUP, 'group, task');

const tasks = [
  table({
    title: 'Tasks whose last run failed',
    tells:
      'When it failed, and how long ago the task last succeeded (nothing: never). Their newest run failed or timed out with all its retries.',
    labels: ['group', 'task'],
    linked: 'task',
    queries: [
      [`1000 * (${lastOf('failure')} > (${lastOf('success')} or 0 * ${lastOf('failure')}))`, 'failed'],
      [
        `time() - ${lastOf('success')} and on (group, task) (${lastOf('failure')} > ${lastOf('success')})`,
        'since success',
      ],
    ],
    units: ['dateTimeFromNow', 's'],
    empty:
      'None: the last run of every task succeeded (or there are no series by task: AX_METRICS_BY=group).',
    width: 10,
  }),
  table({
    title: 'Tasks of the last hour',
    tells:
      'How many runs ended, what share failed, how long they took and how late they were triggered. At most 50 tasks, those with the longest p99.',
    labels: ['group', 'task'],
    linked: 'task',
    queries: [
      [`topk(50, task:ax_execution_duration_seconds:p99_1h{${OF_GROUP}})`, 'p99'],
      [`task:ax_execution_duration_seconds:p50_1h{${OF_GROUP}}`, 'p50'],
      [`task:ax_trigger_lateness_seconds:p99_1h{${OF_GROUP}}`, 'late, p99'],
      [sum(`task_status:ax_executions:increase1h{${OF_GROUP}}`, 'group, task'), 'ended'],
      [`task:ax_executions_failed:ratio1h{${OF_GROUP}}`, 'failed'],
    ].map(([expr = '', title = '']) => [`sum by (group, task) (${expr})`, title] as const),
    units: ['s', 's', 's', 'none', 'percentunit'],
    empty: 'No run ended in the last hour, or rules.yml is not loaded.',
    width: 14,
  }),
];

const help = [
  note(
    'No data?',
    [
      '- **Namespace is empty**: Prometheus has no `ax_build_info`. Every process serves `/metrics` on `AX_HTTP_PORT`; `AX_HTTP_HOST` is 127.0.0.1 unless it is set.',
      '- **Only numbers of the leader are missing**: no coordinator leads, or it is not scraped. `curl …/readyz` of each says why.',
      '- **Only tables and *Triggered within a second* are missing**: Prometheus has not loaded `deploy/prometheus/rules.yml`.',
      '- **Nothing by task**: nodes run with `AX_METRICS_BY=group`, or there are more tasks than `AX_METRICS_MAX_TASKS`.',
      '',
      'What became of a certain run: `ax why TASK --at INSTANT`. What each metric tells: docs/metrics.md.',
    ].join('\n'),
  ),
];

/** Is everything on time, and if not, where does it wait? */
export const fleet = build({
  uid: 'ax-fleet',
  title: 'ax: fleet',
  description: 'Is everything on time, and if not, where does it wait?',
  variables: [
    manyValuesOf(
      'group',
      'group',
      `{__name__=~"ax_executions_total|ax_task_updated_timestamp_seconds", ${OF_NAMESPACE}}`,
    ).label('Group'),
  ],
  rows: [
    ['On time?', onTime],
    ['Queue and workers', queue],
    ['Leader', leading],
    ['Tasks', tasks],
    ['Help', help],
  ],
});
