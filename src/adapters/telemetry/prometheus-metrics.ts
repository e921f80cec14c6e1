import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type MetricLabels,
  type Metrics,
} from '../../ports/metrics.js';
import { COUNTERS, GAUGES, HISTOGRAMS } from './metric-definitions.js';
import { processMetrics } from './process-metrics.js';

/** The text that Prometheus scrapes. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

/** The metrics of one node, in a registry of its own. */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();
  private readonly counters = new Map<string, Counter>();
  private readonly histograms = new Map<string, Histogram>();
  private readonly gauges = new Map<string, Gauge>();

  constructor() {
    const common = (name: string, { help, labels }: { readonly help: string; readonly labels: object }) => ({
      name: `ax_${name}`,
      help,
      labelNames: Object.keys(labels),
      registers: [this.registry],
    });
    for (const [name, definition] of Object.entries(COUNTERS)) {
      this.counters.set(name, new Counter(common(name, definition)));
    }
    for (const [name, definition] of Object.entries(HISTOGRAMS)) {
      const buckets = [...definition.buckets];
      this.histograms.set(name, new Histogram({ ...common(name, definition), buckets }));
    }
    for (const [name, definition] of Object.entries(GAUGES)) {
      this.gauges.set(name, new Gauge(common(name, definition)));
    }
  }

  count<N extends CounterName>(name: N, labels: MetricLabels[N], by = 1): void {
    if (isCountable(by)) this.counters.get(name)?.inc(labels, by);
  }

  observe<N extends HistogramName>(name: N, labels: MetricLabels[N], value: number): void {
    if (Number.isFinite(value)) this.histograms.get(name)?.observe(labels, value);
  }

  gauge<N extends GaugeName>(name: N, labels: MetricLabels[N], value: number): void {
    if (Number.isFinite(value)) this.gauges.get(name)?.set(labels, value);
  }

  clear(name: GaugeName): void {
    this.gauges.get(name)?.reset();
  }

  /** This node's metrics, and those of the process it runs in. */
  async exposition(): Promise<Exposition> {
    const parts = await Promise.all([this.registry.metrics(), processMetrics().metrics()]);
    return { contentType: this.registry.contentType, body: parts.join('\n') };
  }
}

const isCountable = (by: number): boolean => Number.isFinite(by) && by >= 0;
