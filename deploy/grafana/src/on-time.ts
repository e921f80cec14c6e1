import { chart, NONE, number, upTo } from './panels.js';
import { OF_GROUP, OF_NAMESPACE, ofLeader, percentiles, rate, rateOrZero } from './series.js';

const NO_LEADER = 'No leader tells. Does a coordinator lead, and is it scraped?';

/** The first row of the fleet: numbers of now, and the flow of runs. */
export const onTime = [
  number({
    title: 'Leaders',
    tells:
      'One coordinator leads and triggers. 0: nothing is triggered. More than 1 for over a minute: the lease does not hold.',
    unit: 'none',
    queries: [[`sum(ax_leader{${OF_NAMESPACE}})`, 'leaders']],
    empty: 'No coordinator is scraped',
    steps: [
      [null, 'red'],
      [1, 'green'],
      [2, 'yellow'],
    ],
  }),
  number({
    title: 'Triggered within a second',
    tells:
      'Share of the scheduled runs of the last 15 minutes that were triggered within a second of their slot. The objective is 99 %. Slots that were made up for count with their whole delay.',
    unit: 'percentunit',
    queries: [[`1 - namespace:ax_triggers_late:ratio15m{${OF_NAMESPACE}}`, 'on time']],
    empty: 'No trigger for 15 minutes, or rules.yml is not loaded',
    decimals: 2,
    steps: [
      [null, 'red'],
      [0.95, 'yellow'],
      [0.99, 'green'],
    ],
  }),
  number({
    title: 'Due, not decided',
    tells: 'Enabled tasks with a slot that has come and is not decided. A few for a moment is ordinary.',
    unit: 'none',
    queries: [[ofLeader('ax_due_backlog', OF_NAMESPACE), 'tasks']],
    empty: NO_LEADER,
    steps: upTo(100, 1000),
  }),
  number({
    title: 'Oldest of them',
    tells: 'How long the oldest slot that is not decided has been due. AxBacklog fires beyond 30 s.',
    unit: 's',
    queries: [[ofLeader('ax_due_oldest_age_seconds', OF_NAMESPACE), 'age']],
    empty: NO_LEADER,
    steps: upTo(5, 30),
  }),
  number({
    title: 'Tasks without a worker',
    tells: 'Enabled tasks whose pool and type of executor no live worker serves: their runs wait.',
    unit: 'none',
    queries: [[ofLeader('ax_tasks_without_worker', OF_NAMESPACE), 'tasks']],
    empty: NO_LEADER,
    steps: NONE,
  }),
  number({
    title: 'Alerts',
    tells:
      'Alerts of deploy/prometheus/rules.yml that fire, for this namespace or for all. Each has a page in docs/runbooks.',
    unit: 'none',
    queries: [
      [
        'count(ALERTS{alertname=~"Ax.+", alertstate="firing", ax_namespace=~"$namespace|"}) or vector(0)',
        'firing',
      ],
    ],
    empty: 'Prometheus does not answer',
    steps: NONE,
  }),
  chart({
    title: 'Lateness of triggers',
    tells:
      'From the slot (with its jitter) to the moment it was triggered. Ordinary: the cost of a query and a hop, some ten milliseconds.',
    unit: 's',
    queries: percentiles('ax_trigger_lateness_seconds', OF_GROUP),
    empty: 'No scheduled run was triggered in this time.',
    hasExemplars: true,
  }),
  chart({
    title: 'Runs triggered',
    tells:
      'Trigger events a second, by schedule and by hand; those of slots that were missed and made up for; slots that were skipped.',
    unit: 'cps',
    queries: [
      [rate('ax_triggers_total', OF_NAMESPACE, 'kind'), '{{kind}}'],
      [rateOrZero('ax_misfires_total', OF_NAMESPACE), 'made up for'],
      [rateOrZero('ax_slots_skipped_total', OF_NAMESPACE), 'slots skipped'],
    ],
    empty: 'No process is scraped: see the note at the end.',
  }),
  chart({
    title: 'Runs ended',
    tells:
      'Executions that ended a second, each counted once. Skipped ones did not run: the reason is on the dashboard of the task.',
    unit: 'cps',
    queries: [[rate('ax_executions_total', OF_GROUP, 'status'), '{{status}}']],
    empty: 'No run ended in this time.',
    isStacked: true,
  }),
];
