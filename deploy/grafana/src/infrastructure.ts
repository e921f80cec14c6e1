import { build, manyValuesOf } from './board.js';
import { chart, note } from './panels.js';
import { OF_INSTANCE, OF_NAMESPACE, ofLeader, percentiles, rate, rateOrZero } from './series.js';
import { mysql, processes, redis } from './stores.js';

const NO_LEADER = 'No leader tells. Does a coordinator lead, and is it scraped?';
const NO_COORDINATOR = 'No coordinator is scraped, or none did this in this time.';
const NO_PROCESS = 'No process is scraped: see the note at the end.';

const tick = [
  chart({
    title: 'Scan',
    tells:
      'One transaction of the tick that selects, decides and advances due tasks, also when none is due. Beyond a second triggers are late.',
    unit: 's',
    queries: percentiles('ax_scan_duration_seconds', OF_INSTANCE),
    empty: NO_COORDINATOR,
  }),
  chart({
    title: 'Dispatch batch',
    tells:
      'Trigger events of one turn of the tick. At 1000 the tick goes on at once; for many turns in succession: spread the tasks.',
    unit: 'none',
    queries: percentiles('ax_dispatch_batch_size', OF_INSTANCE),
    empty: 'Nothing was triggered in this time.',
  }),
  chart({
    title: 'Errors of the tick',
    tells:
      'Turns that failed, and tasks that could not be triggered as stored. Both are 0 in health; the log says why.',
    unit: 'cps',
    queries: [
      [rate('ax_tick_errors_total', OF_INSTANCE), 'turns'],
      [rate('ax_task_errors_total', OF_INSTANCE), 'tasks'],
    ],
    empty: NO_COORDINATOR,
  }),
];

const results = [
  chart({
    title: 'Collector lag',
    tells: 'From the end of a run to the writing of its final report.',
    unit: 's',
    queries: percentiles('ax_results_lag_seconds', OF_INSTANCE),
    empty: 'No run ended in this time.',
    width: 6,
  }),
  chart({
    title: 'Reports not yet written',
    tells: 'They wait in Redis, a kilobyte or so each. Growing: MySQL is away or too slow.',
    unit: 'none',
    queries: [[ofLeader('ax_results_depth', OF_NAMESPACE), 'reports']],
    empty: NO_LEADER,
    width: 6,
  }),
  chart({
    title: 'Oldest of them',
    tells: 'How long the oldest report has waited. AxResultsLate fires beyond a minute.',
    unit: 's',
    queries: [[ofLeader('ax_results_oldest_age_seconds', OF_NAMESPACE), 'oldest']],
    empty: NO_LEADER,
    width: 6,
  }),
  chart({
    title: 'Reports written',
    tells: 'Reports written to the store a second, repeated ones included. Every coordinator writes.',
    unit: 'cps',
    queries: [[rate('ax_results_applied_total', OF_INSTANCE), 'written']],
    empty: NO_COORDINATOR,
    width: 6,
  }),
];

const safety = [
  chart({
    title: 'Duplicates prevented',
    tells:
      'Second events or runs of a slot that were refused, by line of defence. Nothing ran twice; something tried to.',
    unit: 'cps',
    queries: ['unique_key', 'slot_lock', 'claim'].map((line) => [
      rateOrZero('ax_duplicates_prevented_total', `${OF_INSTANCE}, line="${line}"`),
      line,
    ]),
    empty: NO_PROCESS,
  }),
  chart({
    title: 'Second chances',
    tells:
      'Events published again, runs taken over from another worker, runs stopped because their claim was lost. Each has a cause: a worker that died, Redis that lost data.',
    unit: 'cps',
    queries: [
      [rate('ax_republished_total', OF_INSTANCE), 'published again'],
      [rate('ax_reclaims_total', OF_INSTANCE), 'taken over'],
      [rate('ax_claims_lost_total', OF_INSTANCE), 'claims lost'],
    ],
    empty: NO_PROCESS,
  }),
  chart({
    title: 'Messages dropped, hooks, receipts',
    tells:
      'Messages that nobody can read or store (never in health), pre-hooks that failed, post-hooks that were tried again or given up, receipts that counted for nothing.',
    unit: 'cps',
    queries: [
      [rateOrZero('ax_poison_messages_total', OF_INSTANCE), 'dropped'],
      [rateOrZero('ax_prechecks_total', `${OF_INSTANCE}, result="failed"`), 'checks failed'],
      [rateOrZero('ax_post_hooks_total', `${OF_INSTANCE}, result="failed"`), 'post-hooks tried again'],
      [rateOrZero('ax_post_hooks_total', `${OF_INSTANCE}, result="given_up"`), 'post-hooks given up'],
      [rateOrZero('ax_mq_receipts_total', `${OF_INSTANCE}, answer!="accepted"`), 'receipts refused'],
    ],
    empty: NO_PROCESS,
  }),
];

const clock = [
  chart({
    title: 'Clock offset',
    tells:
      'Redis − wall clock of each machine, and how far off that may be. ax corrects it. One machine: mend its NTP. All by the same: that of Redis.',
    unit: 's',
    queries: [
      [`abs(ax_clock_offset_seconds{${OF_INSTANCE}})`, '{{instance}}'],
      [`max(ax_clock_offset_error_seconds{${OF_INSTANCE}})`, 'measured to'],
    ],
    empty: NO_PROCESS,
    width: 12,
  }),
  chart({
    title: 'Clock correction',
    tells:
      'Redis − corrected time of each node. Beyond a second the clock of Redis was set or replaced, and nodes follow by 10 ms a second.',
    unit: 's',
    queries: [[`abs(ax_clock_correction_seconds{${OF_INSTANCE}})`, '{{instance}}']],
    empty: NO_PROCESS,
    width: 12,
  }),
  chart({
    title: 'Versions',
    tells:
      'Processes by version of ax and of the time zone data. Two of either for long: finish the rollout.',
    unit: 'none',
    queries: [
      [`count by (version, role) (ax_build_info{${OF_INSTANCE}})`, 'ax {{version}} {{role}}'],
      [`count by (version) (ax_zone_data_info{${OF_INSTANCE}})`, 'zone data {{version}}'],
    ],
    empty: NO_PROCESS,
    width: 12,
  }),
  chart({
    title: 'Calendars end in',
    tells:
      'How long the days that a calendar knows go on; the hundred that end first. AxCalendarEnds fires 60 days ahead.',
    unit: 's',
    queries: [
      [
        `${ofLeader('ax_calendar_known_until_timestamp_seconds', OF_NAMESPACE, 'calendar')} - time()`,
        '{{calendar}}',
      ],
    ],
    empty: 'No calendar that runs out, or no leader tells.',
    width: 12,
  }),
];

const help = [
  note(
    'No data?',
    [
      '- **Everything is empty**: Prometheus has no `ax_build_info` of this namespace. Every process serves `/metrics` on `AX_HTTP_PORT`; `AX_HTTP_HOST` is 127.0.0.1 unless it is set.',
      '- **Tick, results and MySQL are empty**: these come from coordinators. Is one scraped? `curl …/readyz` says what it lacks.',
      '- **Redis is empty**: ax runs embedded (no `AX_REDIS_URL`): lock and queue are in the process.',
    ].join('\n'),
  ),
];

/** What ax stands on, and what it defends against. */
export const infrastructure = build({
  uid: 'ax-infrastructure',
  title: 'ax: infrastructure',
  description:
    'The tick, the collector, clocks, what was refused as a duplicate, MySQL, Redis, and the processes themselves.',
  variables: [manyValuesOf('instance', 'instance', `ax_build_info{${OF_NAMESPACE}}`).label('Process')],
  rows: [
    ['Tick', tick],
    ['Results', results],
    ['Safety', safety],
    ['Clocks, versions, calendars', clock],
    ['MySQL', mysql],
    ['Redis and series', redis],
    ['Processes', processes],
    ['Help', help],
  ],
});
