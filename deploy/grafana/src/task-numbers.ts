import { number } from './panels.js';
import { grown, OF_TASK, ofLeader, quantileOf } from './series.js';

const NO_RUN = 'No run of this task in this time: see the note at the end.';
const NO_SERIES = 'Never, or the task is disabled, or has no series of its own';

const lastOf = (what: string): string => ofLeader(`ax_task_last_${what}_timestamp_seconds`, OF_TASK);

const ended = (statuses: string): string =>
  grown('ax_executions_total', `${OF_TASK}, status=~"${statuses}"`, 'task');

/** How the task stands, and how it did over the time shown. */
export const numbers = [
  number({
    title: 'Last success',
    tells: 'When its newest run that succeeded ended.',
    unit: 'dateTimeFromNow',
    queries: [[`1000 * ${lastOf('success')}`, 'last success']],
    empty: NO_SERIES,
  }),
  number({
    title: 'Last failure',
    tells:
      'When its newest run that failed or timed out ended. Newer than the last success: AxTaskFailing fires.',
    unit: 'dateTimeFromNow',
    queries: [[`1000 * ${lastOf('failure')}`, 'last failure']],
    empty: 'Never',
  }),
  number({
    title: 'Next trigger',
    tells: 'Its oldest slot that is not decided; in the past it is overdue.',
    unit: 'dateTimeFromNow',
    queries: [[`1000 * ${ofLeader('ax_task_next_trigger_timestamp_seconds', OF_TASK)}`, 'next trigger']],
    empty: 'None: disabled, or at the end of its schedule',
  }),
  number({
    title: 'Runs',
    tells: 'Runs that ended as success, fail or timeout in the time shown.',
    unit: 'none',
    decimals: 0,
    queries: [[ended('success|fail|timeout'), 'runs']],
    empty: NO_RUN,
  }),
  number({
    title: 'Success rate',
    tells: 'Share of these runs that succeeded; skipped runs are neither.',
    unit: 'percentunit',
    decimals: 1,
    queries: [
      [`(${ended('success')} or 0 * ${ended('fail|timeout')}) / ${ended('success|fail|timeout')}`, 'success'],
    ],
    empty: NO_RUN,
    steps: [
      [null, 'red'],
      [0.8, 'yellow'],
      [0.99, 'green'],
    ],
  }),
  number({
    title: 'Oldest run not begun',
    tells:
      'How long its oldest run has waited for a worker, if longer than ten seconds; its wait for its turn left out.',
    unit: 's',
    queries: [
      [
        `${ofLeader('ax_task_unstarted_age_seconds', OF_TASK)} or 0 * ${ofLeader('ax_task_updated_timestamp_seconds', OF_TASK)}`,
        'age',
      ],
    ],
    empty: NO_SERIES,
    steps: [
      [null, 'green'],
      [60, 'yellow'],
      [300, 'red'],
    ],
  }),
  ...[0.5, 0.95, 0.99].map((q) =>
    number({
      title: `P${q * 100} of duration`,
      tells:
        'Over all runs in the time shown, also few; to the width of a bucket, interpolated between its bounds. Exact: GET /api/tasks/ID/stats.',
      unit: 's',
      queries: [[quantileOf(q, 'ax_execution_duration_seconds', OF_TASK), `p${q * 100}`]],
      empty: NO_RUN,
    }),
  ),
  ...[0.5, 0.95, 0.99].map((q) =>
    number({
      title: `P${q * 100} of lateness`,
      tells: 'From the slot (with its jitter) to its trigger, over all scheduled runs in the time shown.',
      unit: 's',
      queries: [[quantileOf(q, 'ax_trigger_lateness_seconds', OF_TASK), `p${q * 100}`]],
      empty: 'No scheduled run in this time',
    }),
  ),
];
