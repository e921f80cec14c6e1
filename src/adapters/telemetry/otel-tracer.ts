import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-base';
import { type Logger } from '../../ports/logger.js';
import { isSampled, type SpanFacts, type SpanTimes, traceIdOf, type Tracer } from '../../ports/tracer.js';
import { type BatchedExport } from './batched-export.js';
import { remoteContext } from './run-span.js';
import { UnsampledSpans } from './unsampled-spans.js';
import { isContext, W3cTracer } from './w3c-tracer.js';

/** A step, before anybody has asked what it was. */
interface Recorded {
  readonly context: string;
  readonly times: SpanTimes;
  readonly describe: () => SpanFacts;
}

/** Traces of runs whose spans are exported in the background, as the samplers of OpenTelemetry choose them. */
export class OtelTracer implements Tracer {
  private readonly ids = new W3cTracer();
  private readonly unsampled = new UnsampledSpans<Recorded>((step) => this.send(step));

  constructor(
    private readonly deps: {
      readonly sampler: Sampler;
      readonly spans: Pick<BatchedExport<unknown>, 'add'>;
      readonly keepsFailures: boolean;
      readonly logger: Logger;
    },
  ) {}

  start(parent: string | null): string {
    const own = this.ids.start(parent);
    const traceId = traceIdOf(own);
    const isJoined = parent !== null && traceIdOf(parent) === traceId;
    const caller = isJoined ? trace.setSpanContext(ROOT_CONTEXT, remoteContext(parent)) : ROOT_CONTEXT;
    const { sampler } = this.deps;
    const { decision } = sampler.shouldSample(caller, traceId, 'trigger', SpanKind.INTERNAL, {}, []);
    return `${own.slice(0, -2)}${decision === SamplingDecision.RECORD_AND_SAMPLED ? '01' : '00'}`;
  }

  child(parent: string, key?: string): string {
    return this.ids.child(parent, key);
  }

  record(context: string, times: () => SpanTimes, describe: () => SpanFacts): void {
    if (!isContext(context)) return;
    if (isSampled(context)) this.send({ context, times: times(), describe });
    else if (this.deps.keepsFailures)
      this.unsampled.add(traceIdOf(context), { context, times: times(), describe });
  }

  keep(context: string): void {
    if (this.mayHold(context)) this.unsampled.keep(traceIdOf(context));
  }

  forget(context: string): void {
    if (this.mayHold(context)) this.unsampled.forget(traceIdOf(context));
  }

  private send({ context, times, describe }: Recorded): void {
    const { spans, logger } = this.deps;
    try {
      spans.add(context, times, describe());
    } catch (error) {
      logger.error({ err: error }, 'span not recorded, which is a bug');
    }
  }

  private mayHold(context: string): boolean {
    return this.deps.keepsFailures && isContext(context) && !isSampled(context);
  }
}
