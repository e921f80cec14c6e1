import {
  type Attributes,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { type Resource } from '@opentelemetry/resources';
import {
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type Logger } from '../../ports/logger.js';
import { type Span, type Tracer } from '../../ports/tracer.js';
import { UnsampledSpans } from './unsampled-spans.js';
import { parseTraceparent, type TraceContext, traceparentOf, W3cTracer } from './w3c-tracer.js';
import { withoutSecrets } from './without-secrets.js';

const KINDS: Readonly<Record<Span['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
};

/** Hands spans to the span processor of OpenTelemetry, which exports them in the background. */
export class OtelTracer implements Tracer {
  private readonly ids = new W3cTracer();
  private readonly unsampled = new UnsampledSpans<readonly [TraceContext, Span]>((told) =>
    this.send(...told),
  );

  constructor(
    private readonly deps: {
      readonly sampler: Sampler;
      readonly processor: Pick<SpanProcessor, 'onEnd'>;
      readonly resource: Resource;
      readonly version: string;
      readonly keepsFailures: boolean;
      readonly logger: Logger;
    },
  ) {}

  start(parent: string | null): string {
    const own = contextOf(this.ids.start(parent));
    const caller = parent === null ? null : parseTraceparent(parent);
    const { decision } = this.deps.sampler.shouldSample(
      caller === null
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...spanContextOf(caller), isRemote: true }),
      own.traceId,
      'trigger',
      SpanKind.INTERNAL,
      {},
      [],
    );
    return traceparentOf({ ...own, isSampled: decision === SamplingDecision.RECORD_AND_SAMPLED });
  }

  child(parent: string, key?: string): string {
    return this.ids.child(parent, key);
  }

  record(context: string, describe: () => Span): void {
    const own = parseTraceparent(context);
    if (own === null || (!own.isSampled && !this.deps.keepsFailures)) return;
    try {
      if (own.isSampled) this.send(own, describe());
      else this.unsampled.add(own.traceId, [own, describe()]);
    } catch (error) {
      this.deps.logger.error({ err: error }, 'span not recorded, which is a bug');
    }
  }

  keep(context: string): void {
    const own = this.unsampledTrace(context);
    if (own !== null) this.unsampled.keep(own.traceId);
  }

  forget(context: string): void {
    const own = this.unsampledTrace(context);
    if (own !== null) this.unsampled.forget(own.traceId);
  }

  private send(own: TraceContext, span: Span): void {
    this.deps.processor.onEnd(this.readable(own, span));
  }

  private unsampledTrace(context: string): TraceContext | null {
    const own = this.deps.keepsFailures ? parseTraceparent(context) : null;
    return own?.isSampled === false ? own : null;
  }

  /** One that is exported has the sampled flag, also if it came to that late: exporters want to see it. */
  private readable(own: TraceContext, span: Span): ReadableSpan {
    const { resource, version } = this.deps;
    const context = spanContextOf({ ...own, isSampled: true });
    const parent = span.parent === null ? null : parseTraceparent(span.parent);
    const endedAt = Math.max(span.startedAt, span.endedAt);
    const message = span.error?.message;
    const told = message === undefined || message === null ? {} : { message: withoutSecrets(message) };
    const type = span.error?.type;
    return {
      name: span.name,
      kind: KINDS[span.kind],
      spanContext: () => context,
      ...(parent?.traceId === own.traceId
        ? { parentSpanContext: { ...spanContextOf(parent), isRemote: true } }
        : {}),
      startTime: hrTime(span.startedAt),
      endTime: hrTime(endedAt),
      duration: hrTime(endedAt - span.startedAt),
      ended: true,
      status: type === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, ...told },
      attributes: { ...present(span.attributes), ...(type === undefined ? {} : { 'error.type': type }) },
      events:
        type === undefined
          ? []
          : [
              {
                name: 'exception',
                time: hrTime(endedAt),
                attributes: {
                  'exception.type': type,
                  ...('message' in told ? { 'exception.message': told.message } : {}),
                },
              },
            ],
      links: (span.links ?? []).flatMap((link) => {
        const linked = parseTraceparent(link);
        return linked === null ? [] : [{ context: { ...spanContextOf(linked), isRemote: true } }];
      }),
      resource,
      instrumentationScope: { name: 'ax', version },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }
}

function contextOf(traceparent: string): TraceContext {
  const context = parseTraceparent(traceparent);
  if (context === null) throw new Error(`not a traceparent: ${traceparent}`);
  return context;
}

const spanContextOf = ({ traceId, spanId, isSampled }: TraceContext): SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
});

const present = (attributes: Span['attributes']): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

/** Seconds and nanoseconds of milliseconds. */
function hrTime(ms: number): HrTime {
  const nanos = Math.round((ms % 1000) * 1e6);
  return nanos === 1e9 ? [Math.floor(ms / 1000) + 1, 0] : [Math.floor(ms / 1000), nanos];
}
