import { setImmediate as othersTurn } from 'node:timers/promises';
import { Counter, type Metric, type OpenMetricsContentType, Registry } from 'prom-client';

type AnyRegistry = Registry | Registry<OpenMetricsContentType>;

/**
 * The same metrics in the form of OpenMetrics, which exemplars need. There the names of counters are those of their families, without
 * `_total`, which prom-client adds to their samples; so it gets views with other names.
 */
export function openMetricsOf(text: Registry): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of text.getMetricsAsArray()) {
    const name = (metric as unknown) instanceof Counter ? metric.name.replace(/_total$/, '') : metric.name;
    registry.registerMetric(Object.create(metric, { name: { value: name } }) as Metric);
  }
  return registry;
}

/** All metrics as text. Others get their turn after each, since one with hundreds of tasks takes milliseconds. */
export async function textOf(registry: AnyRegistry): Promise<string> {
  const parts: string[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    parts.push(await registry.getSingleMetricAsString(name));
    await othersTurn();
  }
  const end = registry.contentType === Registry.OPENMETRICS_CONTENT_TYPE ? '# EOF\n' : '';
  return `${parts.join('\n')}\n${end}`;
}
