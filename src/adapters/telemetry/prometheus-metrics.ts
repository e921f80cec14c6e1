import { Counter, Gauge, Histogram, type OpenMetricsContentType, Registry } from 'prom-client';
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type MetricLabels,
  type Metrics,
  type TaskLabels,
} from '../../ports/metrics.js';
import { isSampled, traceIdOf } from '../../ports/tracer.js';
import { COUNTERS } from './counter-definitions.js';
import { GAUGES } from './gauge-definitions.js';
import { HISTOGRAMS } from './histogram-definitions.js';
import { isOfTask, type Scope } from './metric-definition.js';
import { openMetricsOf, textOf } from './open-metrics.js';
import { processMetrics } from './process-metrics.js';
import { type SeriesLimits, TaskSeries } from './task-series.js';

/** The text that Prometheus scrapes. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

export interface MetricsOptions extends SeriesLimits {
  /** The label `ax_namespace` of every series; null: there is none. */
  readonly namespace: string | null;
  /** Which metrics there are; a metric of another role is neither kept nor shown. */
  readonly scopes: readonly Scope[];
  readonly monotonicMs: () => number;
}

const DEFAULTS: MetricsOptions = {
  namespace: null,
  scopes: ['every', 'coordinator', 'leader', 'worker'],
  maxTasks: 200,
  by: 'task',
  monotonicMs: () => performance.now(),
};

type Labels = Readonly<Record<string, string>>;

interface Kept<M> {
  readonly metric: M;
  readonly isOfTask: boolean;
}

/** The metrics of one node, in registries of its own. */
export class PrometheusMetrics implements Metrics {
  private readonly counters = new Map<string, Kept<Counter>>();
  private readonly histograms = new Map<string, Kept<Histogram>>();
  private readonly gauges = new Map<string, Kept<Gauge> & { readonly isLeaders: boolean }>();
  private readonly series: TaskSeries;
  private readonly text = new Registry();
  private readonly openMetrics: Registry<OpenMetricsContentType>;

  constructor(options: Partial<MetricsOptions> = {}) {
    const { namespace, scopes, monotonicMs, ...limits } = { ...DEFAULTS, ...options };
    this.series = new TaskSeries(limits, monotonicMs, {
      onOverflow: () => this.counters.get('metrics_overflow_total')?.metric.inc(),
      onEvicted: (labels) => void this.forget(labels),
    });
    // prom-client keeps exemplars only in such a registry.
    const own = new Registry<OpenMetricsContentType>();
    own.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const here = <D extends { readonly by: Scope }>(definitions: Readonly<Record<string, D>>) =>
      Object.entries(definitions).filter(([, { by }]) => scopes.includes(by));
    const common = (name: string, { help, labels }: { readonly help: string; readonly labels: object }) => ({
      name: `ax_${name}`,
      help,
      labelNames: Object.keys(labels),
      registers: [own],
    });
    for (const [name, definition] of here(COUNTERS)) {
      const metric = new Counter(common(name, definition));
      for (const labels of definition.zeros ?? []) metric.inc({ ...labels }, 0);
      this.counters.set(name, { metric, isOfTask: isOfTask(definition) });
    }
    for (const [name, definition] of here(HISTOGRAMS)) {
      const buckets = [...definition.buckets];
      const hasTask = isOfTask(definition);
      const metric = new Histogram({ ...common(name, definition), buckets, enableExemplars: hasTask });
      this.histograms.set(name, { metric, isOfTask: hasTask });
    }
    for (const [name, definition] of here(GAUGES)) {
      const metric = new Gauge(common(name, definition));
      this.gauges.set(name, {
        metric,
        isOfTask: isOfTask(definition),
        isLeaders: definition.by === 'leader',
      });
    }
    this.clearLeaders();
    for (const metric of [...own.getMetricsAsArray(), ...processMetrics().getMetricsAsArray()])
      this.text.registerMetric(metric as never);
    this.openMetrics = openMetricsOf(this.text);
    if (namespace === null) return;
    for (const registry of [this.text, this.openMetrics])
      registry.setDefaultLabels({ ax_namespace: namespace });
  }

  count<N extends CounterName>(name: N, labels: MetricLabels[N], by = 1): void {
    const kept = this.counters.get(name);
    if (kept !== undefined && isCountable(by)) kept.metric.inc(this.bounded(kept, labels), by);
  }

  observe<N extends HistogramName>(
    name: N,
    labels: MetricLabels[N],
    value: number,
    traceparent?: string,
  ): void {
    const kept = this.histograms.get(name);
    if (kept === undefined || !Number.isFinite(value)) return;
    if (!kept.isOfTask) return kept.metric.observe(labels, value);
    const exemplarLabels = exemplarOf(traceparent);
    // What prom-client has in place of `observe` where exemplars are enabled.
    kept.metric.observe({ labels: this.bounded(kept, labels), value, exemplarLabels } as never);
  }

  gauge<N extends GaugeName>(name: N, labels: MetricLabels[N], value: number): void {
    if (Number.isFinite(value)) this.gauges.get(name)?.metric.set(labels, value);
  }

  clear(name: GaugeName): void {
    const kept = this.gauges.get(name);
    kept?.metric.reset();
    if (kept?.isLeaders === true && Object.keys(GAUGES[name].labels).length === 0) kept.metric.remove({});
  }

  clearLeaders(): void {
    for (const [name, { isLeaders }] of this.gauges) if (isLeaders) this.clear(name as GaugeName);
  }

  /** This node's metrics, and those of the process it runs in; `accept` is what the scraper asked for. */
  async exposition(accept = ''): Promise<Exposition> {
    this.gauge('metrics_tasks', {}, this.series.size);
    const registry = accept.includes('application/openmetrics-text') ? this.openMetrics : this.text;
    return { contentType: registry.contentType, body: await textOf(registry) };
  }

  private bounded({ isOfTask: hasTask }: Kept<unknown>, labels: Labels): Labels {
    if (!hasTask) return labels;
    const given = labels as Labels & TaskLabels;
    const { group, task } = this.series.of(given);
    return group === given.group && task === given.task ? labels : { ...labels, group, task };
  }

  private async forget({ group, task }: TaskLabels): Promise<void> {
    const kept = [...this.counters.values(), ...this.histograms.values()].filter((one) => one.isOfTask);
    await Promise.all(kept.map(({ metric }) => forgetIn(metric, { group, task })));
  }
}

const isCountable = (by: number): boolean => Number.isFinite(by) && by >= 0;

async function forgetIn(metric: Counter | Histogram, { group, task }: TaskLabels): Promise<void> {
  if (metric instanceof Histogram) return metric.remove({ group, task });
  for (const { labels } of (await metric.get()).values) {
    if (labels['group'] === group && labels['task'] === task) metric.remove(labels);
  }
}

const NO_EXEMPLAR = {};

function exemplarOf(traceparent: string | undefined): Labels {
  return traceparent !== undefined && isSampled(traceparent)
    ? { trace_id: traceIdOf(traceparent) }
    : NO_EXEMPLAR;
}
