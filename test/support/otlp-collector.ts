import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { until } from './until.js';

type Value = string | number | boolean | null;

/** A span as it was received. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: a root. */
  readonly parentSpanId: string;
  readonly name: string;
  /** INTERNAL 1, SERVER 2, CLIENT 3, PRODUCER 4, CONSUMER 5. */
  readonly kind: number;
  /** Epoch ms. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly isError: boolean;
  readonly message: string | undefined;
  /** Attributes of its events, by their names. */
  readonly events: Readonly<Record<string, Readonly<Record<string, Value>>>>;
  /** Span ids. */
  readonly links: readonly string[];
  readonly resource: Readonly<Record<string, Value>>;
}

/** Receives traces by OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/), as JSON; other bodies are kept as they are. */
export class OtlpCollector {
  readonly spans: ReceivedSpan[] = [];
  readonly requests: { readonly path: string; readonly type: string; readonly body: Buffer }[] = [];
  /** What it answers. */
  status = 200;

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void buffer(request).then((raw) => {
        const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
        const type = request.headers['content-type'] ?? '';
        this.requests.push({ path: request.url ?? '', type, body });
        if (this.status === 200 && type === 'application/json') this.spans.push(...spansOf(body.toString()));
        response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  static async start(): Promise<OtlpCollector> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new OtlpCollector(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Variables of an ax that exports here, soon. */
  get env(): Readonly<Record<string, string>> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: this.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
  }

  of(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** All spans of a trace, once it has `count` of this name. */
  async trace(traceId: string, name: string, count = 1): Promise<ReceivedSpan[]> {
    const names = () => this.of(traceId).map((span) => span.name);
    await until(
      () => `${count} "${name}" in trace ${traceId}: ${names().join(', ')}`,
      () => names().filter((had) => had === name).length >= count,
      30_000,
    );
    return this.of(traceId);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

interface KeyValue {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly boolValue?: boolean;
    readonly intValue?: number | string;
    readonly doubleValue?: number;
  };
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly events: readonly { readonly name: string; readonly attributes: readonly KeyValue[] }[];
  readonly links: readonly { readonly spanId: string }[];
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

function spansOf(json: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(json) as OtlpTraces;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(span, valuesOf(resource.attributes)))),
  );
}

const spanOf = (span: OtlpSpan, resource: ReceivedSpan['resource']): ReceivedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  name: span.name,
  kind: span.kind,
  start: Number(span.startTimeUnixNano) / 1e6,
  end: Number(span.endTimeUnixNano) / 1e6,
  attributes: valuesOf(span.attributes),
  isError: span.status.code === 2,
  message: span.status.message,
  events: Object.fromEntries(span.events.map(({ name, attributes }) => [name, valuesOf(attributes)])),
  links: span.links.map(({ spanId }) => spanId),
  resource,
});

const valuesOf = (pairs: readonly KeyValue[]): Record<string, Value> =>
  Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      value.stringValue ??
        value.boolValue ??
        value.doubleValue ??
        (value.intValue === undefined ? null : Number(value.intValue)),
    ]),
  );
