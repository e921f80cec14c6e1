import { type Metric, type OpenMetricsContentType, Registry } from 'prom-client';

/**
 * The same metrics in the form of OpenMetrics, which exemplars need. There prom-client takes the `_total` off the names of counters and
 * does not put it on again, so it gets views whose names it may change.
 */
export function openMetricsOf(text: Registry): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of text.getMetricsAsArray()) {
    const { name } = metric;
    const view = Object.create(metric, { name: { value: name, writable: true } }) as Metric;
    registry.registerMetric(view);
  }
  return registry;
}
