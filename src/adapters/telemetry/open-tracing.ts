import { setTimeout as delay } from 'node:timers/promises';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { type Logger } from '../../ports/logger.js';
import { OtelTracer } from './otel-tracer.js';
import { type SamplerOptions, type Tracing, type TracingOptions } from './tracing-options.js';
import { WatchedExporter } from './watched-exporter.js';

/** What a stopping node waits for its last spans. */
const FLUSH_MS = 2000;

/**
 * Tracing by OTLP over HTTP. The libraries themselves read where to (`OTEL_EXPORTER_OTLP_…`), how to batch (`OTEL_BSP_…`) and who we are
 * (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, which win over `resource`) from the environment. Nothing is sent before the first span.
 */
export async function openTracing(
  options: TracingOptions,
  { resource, logger }: { readonly resource: Readonly<Record<string, string>>; readonly logger: Logger },
): Promise<Tracing> {
  const exporter = new WatchedExporter(await exporterFor(options.protocol), logger);
  const processor = new BatchSpanProcessor(exporter, { maxQueueSize: options.maxQueueSize });
  const tracer = new OtelTracer({
    sampler: samplerOf(options.sampler),
    processor,
    resource: resourceFromAttributes(resource).merge(detectResources({ detectors: [envDetector] })),
    version: resource['service.version'] ?? '',
    keepsFailures: options.keepsFailures,
    logger,
  });
  const close = async () => {
    const flushed = processor.shutdown().catch(() => undefined);
    await Promise.race([flushed, delay(FLUSH_MS, undefined, { ref: false })]);
  };
  return { tracer, close };
}

async function exporterFor(protocol: TracingOptions['protocol']): Promise<SpanExporter> {
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return new OTLPTraceExporter();
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
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
