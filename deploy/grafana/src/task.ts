import {
  CustomVariableBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  TextBoxVariableBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { build, manyValuesOf, valuesOf } from './board.js';
import { chart, heat, note } from './panels.js';
import { grown, OF_GROUP, OF_NAMESPACE, OF_TASK, percentiles, rate } from './series.js';
import { numbers } from './task-numbers.js';

const DURATION = 'ax_execution_duration_seconds';
const NO_RUN = 'No run of this task in this time: see the note at the end.';

const time = [
  chart({
    title: 'Duration, over $window each',
    tells:
      'From the start of a run to its end, with all attempts and the pauses between them. Dots are single runs: they lead to their traces, if the data source of Prometheus knows where traces are.',
    unit: 's',
    queries: percentiles(DURATION, OF_TASK, '$window'),
    empty: NO_RUN,
    hasExemplars: true,
    width: 12,
  }),
  heat({
    title: 'Durations',
    tells:
      'How many runs took how long: two kinds of runs show as two bands, where percentiles show one line between them.',
    unit: 's',
    queries: [[`sum by (le) (increase(${DURATION}_bucket{${OF_TASK}}[$__rate_interval]))`, '{{le}}']],
    empty: NO_RUN,
    width: 12,
  }),
  chart({
    title: 'Lateness of its triggers, over $window each',
    tells: 'From the slot (with its jitter) to the moment it was triggered; scheduled runs only.',
    unit: 's',
    queries: percentiles('ax_trigger_lateness_seconds', OF_TASK, '$window'),
    empty: 'No scheduled run in this time.',
    hasExemplars: true,
    width: 12,
  }),
  chart({
    title: 'From the queue to its first start, over $window each',
    tells: 'From publishing to the start on a worker, with the wait for its turn and its check.',
    unit: 's',
    queries: percentiles('ax_queue_to_start_seconds', OF_TASK, '$window'),
    empty: NO_RUN,
    hasExemplars: true,
    width: 12,
  }),
];

const outcomes = [
  chart({
    title: 'Outcomes',
    tells:
      'How its executions ended, in each $window, with the reason. Skipped ones did not run: overlap, misfire, a check.',
    unit: 'none',
    queries: [[grown('ax_executions_total', OF_TASK, 'status, reason', '$window'), '{{status}} {{reason}}']],
    empty: NO_RUN,
    isBars: true,
    isStacked: true,
    width: 12,
  }),
  chart({
    title: 'Attempts',
    tells: 'How its attempts ended, in each $window. More attempts than runs: it needs its retries.',
    unit: 'none',
    queries: [[grown('ax_attempts_total', OF_TASK, 'status, reason', '$window'), '{{status}} {{reason}}']],
    empty: NO_RUN,
    isBars: true,
    isStacked: true,
    width: 12,
  }),
  chart({
    title: 'Attempts for each run',
    tells: 'How often a run is tried. 1: no retries; 2: each needs one.',
    unit: 'none',
    queries: [
      [
        `${rate('ax_attempts_total', OF_TASK)} / (${rate('ax_executions_total', `${OF_TASK}, status!="skipped"`)} > 0)`,
        'attempts',
      ],
    ],
    empty: NO_RUN,
    width: 12,
  }),
  chart({
    title: 'Slow runs',
    tells: 'Runs that took longer than slow_after_sec, in each $window.',
    unit: 'none',
    queries: [[`${grown('ax_slow_executions_total', OF_TASK, 'task', '$window')} or vector(0)`, 'slow']],
    empty: 'Prometheus does not answer.',
    isBars: true,
    width: 12,
  }),
];

const help = [
  note(
    'Why, exactly, and what to check when there is no data',
    [
      '```sh',
      'ax why $task                   # what became of its last slot, link by link; --at INSTANT for another one',
      'curl -H "Authorization: Bearer $TOKEN" "$api/api/tasks/$task/stats"            # exact p50, p95, p99 and counts',
      'curl -H "Authorization: Bearer $TOKEN" "$api/api/executions?task_id=$task"     # its runs',
      '```',
      '',
      '- **The task is not in the list**: it has not run since the processes were started and is disabled; or it is beyond `AX_METRICS_MAX_TASKS` and counts under `_other`; or nodes run with `AX_METRICS_BY=group`, then there is `_all` for each group.',
      '- **No durations**: no run ended in the time shown: choose a longer one. Durations and attempts come from workers, lateness from coordinators: are both scraped?',
      '- **No dots, or they lead nowhere**: Prometheus needs `--enable-feature=exemplar-storage`, and its data source in Grafana *Exemplars* with the label `trace_id`.',
    ].join('\n'),
    24,
    8,
  ),
];

const spans = encodeURIComponent(
  JSON.stringify({
    ax: {
      datasource: '__traces__',
      queries: [
        {
          refId: 'A',
          datasource: { type: 'tempo', uid: '__traces__' },
          queryType: 'traceql',
          query: '{ span.ax.task.id = "__task__" }',
        },
      ],
      range: { from: 'now-1h', to: 'now' },
    },
  }),
)
  .replaceAll('__traces__', '${traces}')
  .replaceAll('__task__', '${task}');

/** How one task does: how long, how late, how it ends. */
export const task = build({
  uid: 'ax-task',
  title: 'ax: one task',
  description:
    'How one task does: how long its runs take, how late they are triggered, how they end, and their traces.',
  variables: [
    manyValuesOf('group', 'group', `ax_executions_total{${OF_NAMESPACE}}`).label('Group'),
    valuesOf(
      'task',
      'task',
      `{__name__=~"ax_executions_total|ax_task_updated_timestamp_seconds", ${OF_GROUP}}`,
    ).label('Task'),
    new CustomVariableBuilder('window')
      .label('Window')
      .values('5m,15m,1h,6h,1d')
      .current({ text: '15m', value: '15m' }),
    new DatasourceVariableBuilder('traces').label('Traces').type('tempo'),
    new TextBoxVariableBuilder('api').label('Address of ax').defaultValue('http://127.0.0.1:8080'),
  ],
  links: [
    new DashboardLinkBuilder('Traces of this task')
      .type(DashboardLinkType.Link)
      .icon('external link')
      .url(`/explore?schemaVersion=1&panes=${spans}`)
      .targetBlank(true),
  ],
  rows: [
    ['Now, and over the time shown', numbers],
    ['Time', time],
    ['Outcomes', outcomes],
    ['Help', help],
  ],
});
