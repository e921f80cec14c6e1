import { describe, expect, it } from 'vitest';
import { PrometheusMetrics } from '../../../../src/adapters/telemetry/prometheus-metrics.js';

const ACCEPT = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const LABELS = { group: 'day', task: 'a' };

const linesOf = async (metrics: PrometheusMetrics, name: string, accept = ACCEPT) =>
  (await metrics.exposition(accept)).body.split('\n').filter((line) => line.includes(name));

describe('What is exposed', () => {
  it('is OpenMetrics where that is asked for: counters keep their names, and one end', async () => {
    const metrics = new PrometheusMetrics();
    metrics.count('tick_errors_total', {}, 2);
    for (let scrape = 0; scrape < 2; scrape += 1) {
      const { contentType, body } = await metrics.exposition(ACCEPT);
      expect(contentType).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
      expect(body).toContain('# TYPE ax_tick_errors counter\nax_tick_errors_total 2\n');
      expect(body).toMatch(/^process_cpu_user_seconds_total /m);
      expect(body).not.toContain('_total_total');
      expect(body.match(/# EOF/g)).toHaveLength(1);
      expect(body.endsWith('\n# EOF\n')).toBe(true);
      const text = await metrics.exposition('text/plain');
      expect(text.contentType).toMatch(/^text\/plain/);
      expect(text.body).toContain('# TYPE ax_tick_errors_total counter\nax_tick_errors_total 2\n');
      expect(text.body).not.toContain('# EOF');
    }
  });

  it('has the trace of a sampled run as an example of its value, in OpenMetrics only', async () => {
    const metrics = new PrometheusMetrics();
    const observe = (seconds: number, flags: string) =>
      metrics.observe('trigger_lateness_seconds', LABELS, seconds, `00-${TRACE}-00f067aa0ba902b7-${flags}`);
    observe(0.002, '01');
    observe(4000, '03');
    observe(0.2, '00');
    metrics.observe('trigger_lateness_seconds', LABELS, 0.02);
    const buckets = (await linesOf(metrics, 'lateness_seconds_bucket')).map((line) =>
      line.replace(/\d+\.\d+$/, 'NOW').replace(',group="day",task="a"', ''),
    );
    expect(buckets.filter((line) => line.includes('#'))).toEqual([
      `ax_trigger_lateness_seconds_bucket{le="0.0025"} 1 # {trace_id="${TRACE}"} 0.002 NOW`,
      `ax_trigger_lateness_seconds_bucket{le="+Inf"} 4 # {trace_id="${TRACE}"} 4000 NOW`,
    ]);
    expect((await linesOf(metrics, 'trace_id', '')).length).toBe(0);
  });

  it('is of one namespace, on every series', async () => {
    const metrics = new PrometheusMetrics({ namespace: 'night' });
    metrics.observe('trigger_lateness_seconds', LABELS, 1);
    for (const accept of ['', ACCEPT]) {
      const { body } = await metrics.exposition(accept);
      const samples = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      expect(samples.filter((line) => !line.includes('ax_namespace="night"'))).toEqual([]);
    }
  });

  it('is what the role has: a worker says nothing of leaders, and a standby no more than that it is one', async () => {
    const worker = new PrometheusMetrics({ scopes: ['every', 'worker'] });
    worker.gauge('leader', {}, 1);
    expect((await linesOf(worker, 'ax_', '')).filter((line) => /leader|due_|sql_/.test(line))).toEqual([]);
    expect(await linesOf(worker, 'ax_running_executions ', '')).toContain('ax_running_executions 0');

    const coordinator = new PrometheusMetrics({ scopes: ['every', 'coordinator', 'leader'] });
    const shown = async () =>
      (await linesOf(coordinator, 'ax_due_backlog', '')).filter((l) => !l.startsWith('#'));
    expect(await shown()).toEqual([]);
    expect(await linesOf(coordinator, 'ax_leader ', '')).toContain('ax_leader 0');
    coordinator.gauge('due_backlog', {}, 7);
    coordinator.gauge('tasks', { enabled: 'true' }, 7);
    expect(await shown()).toEqual(['ax_due_backlog 7']);
    coordinator.clearLeaders();
    expect(await shown()).toEqual([]);
    expect(await linesOf(coordinator, 'ax_tasks{', '')).toEqual([]);
    coordinator.gauge('due_backlog', {}, 8);
    coordinator.clear('due_backlog');
    expect(await shown()).toEqual([]);
  });
});
