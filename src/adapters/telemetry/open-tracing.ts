import { setTimeout as delay } from 'node:timers/promises';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { type Logger } from '../../ports/logger.js';
import { BatchedExport } from './batched-export.js';
import { EncodedSpans } from './encoded-spans.js';
import { ListedSpans } from './listed-spans.js';
import { OtelTracer } from './otel-tracer.js';
import { type SamplerOptions, type Tracing, type TracingOptions } from './tracing-options.js';

/** What a stopping node waits for its last spans. */
const FLUSH_MS = 2000;

/**
 * Tracing by OTLP over HTTP. The libraries themselves read where to (`OTEL_EXPORTER_OTLP_…`) and who we are (`OTEL_SERVICE_NAME`,
 * `OTEL_RESOURCE_ATTRIBUTES`, which win over `resource`) from the environment. Nothing is sent before the first span.
 */
export async function openTracing(
  options: TracingOptions,
  { resource, logger }: { readonly resource: Readonly<Record<string, string>>; readonly logger: Logger },
): Promise<Tracing> {
  const { keepsFailures, limits, protocol } = options;
  const origin = {
    resource: resourceFromAttributes(resource).merge(detectResources({ detectors: [envDetector] })),
    scope: { name: 'ax', version: resource['service.version'] ?? '' },
  };
  // Loaded only here, where something is exported.
  const { jsonExporter, protobufExporter } = await import('./otlp-exporters.js');
  const spans =
    protocol === 'http/json'
      ? new BatchedExport(new ListedSpans(origin), jsonExporter(), limits, logger)
      : new BatchedExport(new EncodedSpans(origin), protobufExporter(), limits, logger);
  const tracer = new OtelTracer({ sampler: samplerOf(options.sampler), spans, keepsFailures, logger });
  const close = async () => {
    const flushed = spans.close().catch(() => undefined);
    await Promise.race([flushed, delay(FLUSH_MS, undefined, { ref: false })]);
  };
  return { tracer, close };
}

function samplerOf({ root, ratio, isParentBased }: SamplerOptions): Sampler {
  const samplers = {
    on: () => new AlwaysOnSampler(),
    off: () => new AlwaysOffSampler(),
    ratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const sampler = samplers[root]();
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler;
}
