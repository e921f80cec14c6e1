import { chart, number, upTo } from './panels.js';
import { OF_INSTANCE, percentiles, quantile, rate, rateOrZero } from './series.js';

const NO_COORDINATOR = 'No coordinator is scraped, or none did this in this time.';
const NO_PROCESS = 'No process is scraped: see the note at the end.';

export const mysql = [
  chart({
    title: 'MySQL: duration',
    tells: 'p50 and p99 of reads and transactions of coordinators, with the wait for a connection.',
    unit: 's',
    queries: [0.5, 0.99].map((q) => [
      quantile(q, 'ax_sql_operation_duration_seconds', OF_INSTANCE, { by: 'operation' }),
      `{{operation}} p${q * 100}`,
    ]),
    empty: NO_COORDINATOR,
  }),
  chart({
    title: 'MySQL: operations',
    tells:
      'Operations a second, those that failed, and transactions begun again because they lost to a concurrent one.',
    unit: 'ops',
    queries: [
      [rate('ax_sql_operation_duration_seconds_count', OF_INSTANCE, 'operation'), '{{operation}}'],
      [rateOrZero('ax_sql_errors_total', OF_INSTANCE), 'failed'],
      [rate('ax_sql_retries_total', OF_INSTANCE), 'begun again'],
    ],
    empty: NO_COORDINATOR,
  }),
  chart({
    title: 'MySQL: connections',
    tells:
      'Connections in use and free, and calls that wait for one. Any that wait for long: MySQL is slow, or has too few connections.',
    unit: 'none',
    queries: [[`sum by (state) (ax_sql_pool_connections{${OF_INSTANCE}})`, '{{state}}']],
    empty: 'No coordinator is scraped.',
    isStacked: true,
  }),
];

export const redis = [
  chart({
    title: 'Redis: duration',
    tells:
      'Commands and scripts, reads that wait for messages left out. Beyond some milliseconds: its machine or the network.',
    unit: 's',
    queries: percentiles('ax_redis_operation_duration_seconds', OF_INSTANCE),
    empty: NO_PROCESS,
  }),
  chart({
    title: 'Redis: operations',
    tells: 'Commands and scripts a second, and those that failed.',
    unit: 'ops',
    queries: [
      [rate('ax_redis_operation_duration_seconds_count', OF_INSTANCE), 'operations'],
      [rateOrZero('ax_redis_errors_total', OF_INSTANCE), 'failed'],
    ],
    empty: NO_PROCESS,
  }),
  number({
    title: 'Tasks with series of their own',
    tells: 'On the node that has most. What comes beyond AX_METRICS_MAX_TASKS counts under _other.',
    unit: 'none',
    queries: [[`max(ax_metrics_tasks{${OF_INSTANCE}})`, 'tasks']],
    empty: NO_PROCESS,
  }),
  number({
    title: 'Fell to _other',
    tells: 'Measurements of tasks beyond AX_METRICS_MAX_TASKS, in the time shown.',
    unit: 'none',
    decimals: 0,
    queries: [[`sum(increase(ax_metrics_overflow_total{${OF_INSTANCE}}[$__range]))`, 'measurements']],
    empty: NO_PROCESS,
    steps: upTo(1, 1e6),
  }),
];

export const processes = [
  chart({
    title: 'HTTP API: duration',
    tells: 'p99 of requests to each route; probes and scrapes left out.',
    unit: 's',
    queries: [
      [
        quantile(
          0.99,
          'ax_http_request_duration_seconds',
          `${OF_INSTANCE}, route!~"/metrics|/healthz|/readyz"`,
          {
            by: 'method, route',
          },
        ),
        '{{method}} {{route}}',
      ],
    ],
    empty: 'No request in this time.',
  }),
  chart({
    title: 'HTTP API: requests',
    tells: 'Requests a second by status, with probes and scrapes.',
    unit: 'reqps',
    queries: [[rate('ax_http_request_duration_seconds_count', OF_INSTANCE, 'status'), '{{status}}']],
    empty: NO_PROCESS,
    isStacked: true,
  }),
  chart({
    title: 'Event loop',
    tells:
      'p99 of the delay of the event loop of each process. Beyond 100 ms it lacks CPU, and leases and claims are renewed late.',
    unit: 's',
    queries: [[`nodejs_eventloop_lag_p99_seconds{${OF_INSTANCE}}`, '{{instance}}']],
    empty: NO_PROCESS,
  }),
  chart({
    title: 'CPU',
    tells: 'Cores in use by each process. One is all that a process of Node.js can use for its own code.',
    unit: 'none',
    queries: [[`rate(process_cpu_seconds_total{${OF_INSTANCE}}[$__rate_interval])`, '{{instance}}']],
    empty: NO_PROCESS,
    width: 12,
  }),
  chart({
    title: 'Memory',
    tells: 'Resident memory of each process.',
    unit: 'bytes',
    queries: [[`process_resident_memory_bytes{${OF_INSTANCE}}`, '{{instance}}']],
    empty: NO_PROCESS,
    width: 12,
  }),
];
