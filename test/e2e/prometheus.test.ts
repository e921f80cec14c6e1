import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HISTOGRAMS } from '../../src/adapters/telemetry/histogram-definitions.js';
import { readRules } from '../support/alert-rules.js';
import { Cluster } from '../support/cluster.js';
import { dashboardQueries } from '../support/dashboards.js';
import { FleetLoad } from '../support/fleet-load.js';
import { Prometheus, type Sample } from '../support/prometheus.js';
import { until } from '../support/until.js';
import { selectorsIn } from '../support/used-metrics.js';

const RULES = readFileSync(new URL('../../deploy/prometheus/rules.yml', import.meta.url), 'utf8');
/** What has no series in this fleet, and why. */
const ABSENT: Readonly<Record<string, string>> = {
  'ax_executions_total{reason="outcome_unknown"}': 'no worker was lost',
};
const DURATION = 'ax_execution_duration_seconds';

const hasNumber = (samples: readonly Sample[]) => samples.some(({ value }) => !Number.isNaN(value));

describe('a real Prometheus scrapes two coordinators and two workers under load', () => {
  let cluster: Cluster;
  let prometheus: Prometheus;
  let load: FleetLoad;

  beforeAll(async () => {
    cluster = await Cluster.create();
    for (const role of ['coordinator', 'coordinator', 'worker', 'worker'] as const) await cluster.serve(role);
    const targets = cluster.processes.map((ax) => new URL(ax.address() ?? '').host);
    prometheus = await Prometheus.start(targets, RULES.replaceAll(/interval: \w+/g, 'interval: 1s'));
    await until('all are scraped', async () => (await prometheus.query('ax_build_info')).length === 4);
    const [coordinator] = cluster.processes;
    if (coordinator === undefined) throw new Error('no coordinator');
    load = await FleetLoad.start(coordinator);
    await load.run('relapsed', 1);
    // The next run while this one goes on would be skipped, and no failure.
    const succeeded = 'ax_executions_total{task="relapsed", status="success"} > 0';
    await until('it succeeded', async () => hasNumber(await prometheus.query(succeeded)));
    await load.run('relapsed', 1);
    load.keepOn();
  }, 420_000);

  afterAll(async () => {
    await load.end();
    await prometheus.close();
    await cluster.close();
  });

  /** The query with the variables of the dashboards filled in, as Grafana does. */
  const filled = (expr: string, task: string) =>
    Object.entries({
      $__rate_interval: '20s',
      $__range: '5m',
      $window: '1m',
      $namespace: cluster.env['AX_NAMESPACE'] ?? '',
      $group: '.*',
      $instance: '.*',
      $task: task,
    }).reduce((text, [name, value]) => text.replaceAll(name, value), expr);

  /** Asks until all have answered with a number; the ones that have not by the deadline. */
  async function withoutData(exprs: readonly string[], timeoutMs: number): Promise<readonly string[]> {
    const deadline = performance.now() + timeoutMs;
    let left = [...new Set(exprs)];
    for (;;) {
      const answers = await Promise.all(left.map((expr) => prometheus.query(expr)));
      left = left.filter((_, i) => !hasNumber(answers[i] ?? []));
      if (left.length === 0 || performance.now() > deadline) return left;
      await delay(500);
    }
  }

  it('counts what was missed while both coordinators were paused', async () => {
    const [first, second] = cluster.processes;
    for (const ax of [first, second]) ax?.signal('SIGSTOP');
    // An outage, longer than the windows of a second that some tasks have and shorter than the lease.
    await delay(3000);
    for (const ax of [first, second]) ax?.signal('SIGCONT');
    await until('misfires', async () => hasNumber(await prometheus.query('ax_misfires_total > 0')));
  });

  it('every query of every dashboard has data', async () => {
    expect(dashboardQueries.length).toBeGreaterThan(80);
    const exprs = dashboardQueries.map(({ expr }) => filled(expr, 'mixed'));
    // Calendars are looked at once a minute.
    expect(await withoutData(exprs, 90_000)).toEqual([]);
  }, 120_000);

  it('every recording rule has data, and every alert what it looks at', async () => {
    const { alerts, recordings } = readRules();
    const selectors = alerts.flatMap(({ expr }) => selectorsIn(expr).map(({ text }) => text));
    const exprs = [...recordings.flatMap(({ record, expr }) => [record, expr]), ...selectors];
    const expected = exprs.filter((expr) => ABSENT[expr] === undefined);
    expect(await withoutData(expected, 30_000)).toEqual([]);
    // None has an error or a warning; whether it fires is shown by rules.test.yml.
    for (const { expr } of alerts) await prometheus.query(expr);
  }, 60_000);

  it('the alerts that this load calls for come up, and those of a broken fleet do not fire', async () => {
    const names = async (labels: string) =>
      (await prometheus.query(`ALERTS{${labels}}`)).map(({ metric }) => metric['alertname']);
    const called = ['AxPoolWithoutWorkers', 'AxPostHooksGivenUp', 'AxTaskFailing'];
    let up: readonly (string | undefined)[] = [];
    await until(
      () => `${called.join()} are among ${up.join()}`,
      async () => {
        up = await names('');
        return called.every((name) => up.includes(name));
      },
      30_000,
    );
    const broken = ['AxAbsent', 'AxNoLeader', 'AxSeveralLeaders', 'AxMessagesDropped'];
    const firing = await names('alertstate="firing"');
    expect(broken.filter((name) => firing.includes(name))).toEqual([]);
  }, 60_000);

  it('charts of durations have dots that lead to traces', async () => {
    const charts = dashboardQueries.filter(({ isExemplar }) => isExemplar);
    expect(charts.length).toBeGreaterThan(3);
    for (const { expr } of charts) {
      const ids = await prometheus.exemplars(filled(expr, 'mixed'));
      expect(ids[0], expr).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it('the p99 that is shown is that of the raw durations to the width of a bucket, and stats tells it exactly', async () => {
    await load.run('timed', 150);
    const [coordinator] = cluster.processes;
    const ended = await until('150 runs are stored', async () => {
      const rows = await cluster.query<{ ms: number }>(
        `SELECT TIMESTAMPDIFF(MICROSECOND, started_at, finished_at) / 1000 AS ms
         FROM execution_log WHERE task_id = 'timed' AND status = 'success'`,
      );
      return rows.length === 150 && rows.map(({ ms }) => Number(ms)).toSorted((a, b) => a - b);
    });
    const exact = ended[Math.ceil(150 * 0.99) - 1] ?? NaN;
    const stats = await coordinator?.api<{ duration: { p99_ms: number; count: number } }>(
      'GET',
      '/api/tasks/timed/stats',
    );
    expect(stats?.json.duration).toMatchObject({ count: 150, p99_ms: exact });

    const count = `sum(${DURATION}_count{task="timed"})`;
    await until('150 runs are scraped', async () => (await prometheus.query(count))[0]?.value === 150);
    const bounds = [0, ...HISTOGRAMS.execution_duration_seconds.buckets];
    const upper = bounds.findIndex((bound) => bound >= exact / 1000);
    const width = (bounds[upper] ?? NaN) - (bounds[upper - 1] ?? NaN);
    const shown = dashboardQueries.filter(
      ({ dashboard, panel }) => dashboard === 'ax-task' && panel === 'P99 of duration',
    );
    expect(shown).toHaveLength(1);
    const queries = [
      ...shown.map(({ expr }) => filled(expr, 'timed')),
      'task:ax_execution_duration_seconds:p99_1h{task="timed"}',
    ];
    for (const query of queries) {
      const p99 = await until(query, async () => (await prometheus.query(query))[0]?.value);
      process.stdout.write(
        `p99 of 150 runs: ${exact} ms raw, ${(p99 * 1000).toFixed(1)} ms by ${query.slice(0, 40)}…\n`,
      );
      expect(Math.abs(p99 - exact / 1000)).toBeLessThanOrEqual(width);
    }
  }, 120_000);
});
