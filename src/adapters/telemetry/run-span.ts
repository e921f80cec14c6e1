import {
  type Attributes,
  type HrTime,
  type Link,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import { type Resource } from '@opentelemetry/resources';
import { type ReadableSpan, type TimedEvent } from '@opentelemetry/sdk-trace-base';
import {
  isSampled,
  type SpanError,
  type SpanFacts,
  spanIdOf,
  type SpanTimes,
  traceIdOf,
} from '../../ports/tracer.js';
import { withoutSecrets } from './without-secrets.js';

const KINDS: Readonly<Record<SpanFacts['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
};

/** Who tells of all the spans of a process. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly scope: { readonly name: string; readonly version: string };
}

/** A step of a run as OpenTelemetry wants to see one. */
export class RunSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  /** Absent: none in this trace. */
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly events: TimedEvent[];
  readonly links: Link[];
  readonly resource: Resource;
  readonly instrumentationScope: SpanOrigin['scope'];
  readonly ended = true;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;

  constructor(
    private readonly context: string,
    { startedAt, endedAt }: SpanTimes,
    facts: SpanFacts,
    { resource, scope }: SpanOrigin,
  ) {
    const { parent, error, links = [] } = facts;
    this.name = facts.name;
    this.kind = kindOf(facts);
    if (isParent(parent, context)) this.parentSpanContext = remoteContext(parent);
    this.startTime = hrTime(startedAt);
    this.endTime = hrTime(Math.max(startedAt, endedAt));
    this.duration = hrTime(Math.max(0, endedAt - startedAt));
    this.attributes = present({ ...facts.attributes, 'error.type': error?.type });
    this.status = { code: SpanStatusCode.UNSET };
    this.events = [];
    if (error !== undefined) {
      const message = messageOf(error);
      this.status = { code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) };
      const attributes = present({ 'exception.type': error.type, 'exception.message': message });
      this.events.push({ name: 'exception', time: this.endTime, attributes });
    }
    this.links = links.map((link) => ({ context: remoteContext(link) }));
    this.resource = resource;
    this.instrumentationScope = scope;
  }

  /** One that is exported has the sampled flag, also if it came to that late: exporters want to see it. */
  spanContext(): SpanContext {
    const { context } = this;
    return { traceId: traceIdOf(context), spanId: spanIdOf(context), traceFlags: TraceFlags.SAMPLED };
  }
}

export const kindOf = ({ kind }: SpanFacts): SpanKind => KINDS[kind];

/** One of another trace counts as none. */
export const isParent = (parent: string | null, context: string): parent is string =>
  parent !== null && traceIdOf(parent) === traceIdOf(context);

export const messageOf = ({ message }: SpanError): string | undefined =>
  message === null ? undefined : withoutSecrets(message);

export const flagsOf = (context: string): TraceFlags =>
  isSampled(context) ? TraceFlags.SAMPLED : TraceFlags.NONE;

/** Of a step that another process may have taken. */
export const remoteContext = (context: string): SpanContext => ({
  traceId: traceIdOf(context),
  spanId: spanIdOf(context),
  traceFlags: flagsOf(context),
  isRemote: true,
});

const present = (attributes: SpanFacts['attributes']): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

/** Seconds and nanoseconds of milliseconds. */
function hrTime(ms: number): HrTime {
  const nanos = Math.round((ms % 1000) * 1e6);
  return nanos === 1e9 ? [Math.floor(ms / 1000) + 1, 0] : [Math.floor(ms / 1000), nanos];
}
