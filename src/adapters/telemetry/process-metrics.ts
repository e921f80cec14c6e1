import { collectDefaultMetrics, Registry } from 'prom-client';

/** Gauges whose names end like a counter's, which `promtool check metrics` refuses; each has a twin by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

let registry: Registry | null = null;

/**
 * CPU, memory, event loop and garbage collection of this process. One registry however many nodes run here: the collectors cannot be
 * stopped, so one set per node would pile up.
 */
export function processMetrics(): Registry {
  if (registry === null) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  return registry;
}
