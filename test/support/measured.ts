import { type MetricName } from '../../src/ports/metrics.js';
import { type RecordingMetrics } from './recording.js';

/** What was measured under a name, with these labels at least, in order. */
export const valuesOf = (
  metrics: RecordingMetrics,
  name: MetricName,
  labels: Readonly<Record<string, string>> = {},
): number[] =>
  metrics.seen
    .filter((seen) => seen.name === name)
    .filter((seen) => Object.entries(labels).every(([key, value]) => seen.labels[key] === value))
    .map(({ value }) => value);

/** The sum of a counter. */
export const total = (...args: Parameters<typeof valuesOf>): number =>
  valuesOf(...args).reduce((sum, value) => sum + value, 0);
