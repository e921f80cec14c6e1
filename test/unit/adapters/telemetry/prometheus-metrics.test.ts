import { describe, expect, it } from 'vitest';
import { COUNTERS } from '../../../../src/adapters/telemetry/counter-definitions.js';
import { GAUGES } from '../../../../src/adapters/telemetry/gauge-definitions.js';
import { HISTOGRAMS } from '../../../../src/adapters/telemetry/histogram-definitions.js';
import { PrometheusMetrics } from '../../../../src/adapters/telemetry/prometheus-metrics.js';

/** The samples of one family, comments left out. */
const samplesOf = async (metrics: PrometheusMetrics, name: string): Promise<string[]> =>
  (await metrics.exposition()).body
    .split('\n')
    .filter((line) => line.startsWith(`ax_${name}`))
    .sort();

describe('PrometheusMetrics', () => {
  it('counts, by labels and by steps', async () => {
    const metrics = new PrometheusMetrics();
    metrics.count('sql_errors_total', { operation: 'read', code: 'unavailable' });
    metrics.count('sql_errors_total', { operation: 'read', code: 'unavailable' }, 2);
    metrics.count('sql_errors_total', { operation: 'transaction', code: 'conflict' });
    expect(await samplesOf(metrics, 'sql_errors_total')).toEqual([
      'ax_sql_errors_total{operation="read",code="unavailable"} 3',
      'ax_sql_errors_total{operation="transaction",code="conflict"} 1',
    ]);
  });

  it('sorts observations into buckets', async () => {
    const metrics = new PrometheusMetrics();
    for (const seconds of [0.0004, 0.002, 4.9, 5, 4000]) metrics.observe('results_lag_seconds', {}, seconds);
    const samples = await samplesOf(metrics, 'results_lag_seconds');
    expect(samples).toContain('ax_results_lag_seconds_bucket{le="0.001"} 1');
    expect(samples).toContain('ax_results_lag_seconds_bucket{le="5"} 4');
    expect(samples).toContain('ax_results_lag_seconds_bucket{le="+Inf"} 5');
    expect(samples).toContain('ax_results_lag_seconds_count 5');
  });

  it('shows the last value of a gauge, and values without labels from the start', async () => {
    const metrics = new PrometheusMetrics();
    expect(await samplesOf(metrics, 'leader')).toContain('ax_leader 0');
    metrics.gauge('leader', {}, 1);
    metrics.gauge('running_executions', {}, 7);
    metrics.gauge('running_executions', {}, 3);
    expect(await samplesOf(metrics, 'leader')).toContain('ax_leader 1');
    expect(await samplesOf(metrics, 'running_executions')).toEqual(['ax_running_executions 3']);
  });

  it('begins at 0 with what an alert waits for, so that its first value is an increase', async () => {
    const metrics = new PrometheusMetrics();
    expect(await samplesOf(metrics, 'duplicates_prevented_total')).toEqual([
      'ax_duplicates_prevented_total{line="claim"} 0',
      'ax_duplicates_prevented_total{line="slot_lock"} 0',
      'ax_duplicates_prevented_total{line="unique_key"} 0',
    ]);
    metrics.count('post_hooks_total', { result: 'given_up' });
    expect(await samplesOf(metrics, 'post_hooks_total')).toContain(
      'ax_post_hooks_total{result="given_up"} 1',
    );
    expect(await samplesOf(metrics, 'poison_messages_total')).toHaveLength(2);
  });

  it('ignores values that are not numbers and counts that go down, and does not throw', async () => {
    const metrics = new PrometheusMetrics();
    metrics.count('task_errors_total', {}, -1);
    metrics.count('task_errors_total', {}, Number.NaN);
    metrics.observe('scan_duration_seconds', {}, Number.NaN);
    metrics.gauge('running_executions', {}, Number.POSITIVE_INFINITY);
    expect(await samplesOf(metrics, 'task_errors_total')).toEqual(['ax_task_errors_total 0']);
    expect(await samplesOf(metrics, 'scan_duration_seconds_count')).toEqual([
      'ax_scan_duration_seconds_count 0',
    ]);
    expect(await samplesOf(metrics, 'running_executions')).toEqual(['ax_running_executions 0']);
  });

  it('keeps two nodes of one process apart and gives both the metrics of the process', async () => {
    const [one, other] = [new PrometheusMetrics(), new PrometheusMetrics()];
    one.count('tick_errors_total', {});
    expect(await samplesOf(one, 'tick_errors_total')).toEqual(['ax_tick_errors_total 1']);
    expect(await samplesOf(other, 'tick_errors_total')).toEqual(['ax_tick_errors_total 0']);
    for (const metrics of [one, other]) {
      const { contentType, body } = await metrics.exposition();
      expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(body).toMatch(/^process_resident_memory_bytes \d+$/m);
      expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    }
  });

  it('follows the conventions: help, base units, suffixes by type, one definition a name', async () => {
    const { body } = await new PrometheusMetrics().exposition();
    const typed = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
      name,
      type,
    }));
    const helped = [...body.matchAll(/^# HELP (\S+) \S.*$/gm)].map(([, name]) => name);
    expect(helped).toEqual(typed.map(({ name }) => name));
    expect(new Set(helped).size).toBe(helped.length);
    for (const { name, type } of typed) {
      expect(name).toMatch(/^(ax|process|nodejs)_[a-z0-9_]+$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|millis|milliseconds|minutes|count|sum|bucket|info_total)$/);
    }
    const ours = [...Object.keys(COUNTERS), ...Object.keys(HISTOGRAMS), ...Object.keys(GAUGES)];
    const shown = typed.map(({ name }) => name).filter((name) => name.startsWith('ax_'));
    expect(shown.sort()).toEqual(ours.map((name) => `ax_${name}`).sort());
  });

  it('has ascending buckets, twenty at most', () => {
    for (const { buckets } of Object.values(HISTOGRAMS)) {
      expect(buckets.length).toBeLessThanOrEqual(20);
      expect([...buckets].sort((a, b) => a - b)).toEqual([...buckets]);
      expect(new Set(buckets).size).toBe(buckets.length);
    }
  });
});
