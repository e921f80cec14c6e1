import { type AttributeValue } from '@opentelemetry/api';
import { type SpanError, type SpanFacts, spanIdOf, type SpanTimes, traceIdOf } from '../../ports/tracer.js';
import { ProtobufWriter } from './protobuf-writer.js';
import { flagsOf, isParent, kindOf, messageOf, type SpanOrigin } from './run-span.js';
import { type SpanBatch } from './span-batch.js';

/** Numbers and wire types of fields, as they are written (https://protobuf.dev/programming-guides/encoding/). */
const varint = (field: number): number => field << 3;
const fixed64 = (field: number): number => (field << 3) | 1;
const bytes = (field: number): number => (field << 3) | 2;
const fixed32 = (field: number): number => (field << 3) | 5;

/** Bits of the flags of a span and of a link beside those of its trace context. */
const [SAMPLED, IS_REMOTE_KNOWN, IS_REMOTE] = [0x1, 0x100, 0x200];
const STATUS_ERROR = 2;

/**
 * Spans in the form of an OTLP request
 * (https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto), byte for byte as the
 * serializer of OpenTelemetry writes them, in a fraction of its time: they are written once, when they are added, and no object outlives that.
 */
export class EncodedSpans implements SpanBatch<Uint8Array> {
  private readonly writer = new ProtobufWriter();
  /** The field `key` of an attribute by its name: there are a few dozen names. */
  private readonly keys = new Map<string, Buffer>();

  constructor(private readonly origin: SpanOrigin) {}

  add(context: string, { startedAt, endedAt }: SpanTimes, facts: SpanFacts): void {
    const { writer } = this;
    const { parent, error, links = [] } = facts;
    const hasParent = isParent(parent, context);
    const end = Math.max(startedAt, endedAt);
    const start = writer.begin(bytes(2));
    writer.hex(bytes(1), traceIdOf(context));
    writer.hex(bytes(2), spanIdOf(context));
    if (hasParent) writer.hex(bytes(4), spanIdOf(parent));
    writer.text(bytes(5), facts.name);
    writer.uint(varint(6), kindOf(facts) + 1);
    this.time(fixed64(7), startedAt);
    this.time(fixed64(8), end);
    this.attributes(bytes(9), facts.attributes);
    if (error !== undefined) this.attribute(bytes(9), 'error.type', error.type);
    writer.uint(varint(10), 0);
    if (error !== undefined) this.exception(error, end);
    writer.uint(varint(12), 0);
    for (const link of links) this.link(link);
    writer.uint(varint(14), 0);
    this.status(error);
    writer.fixed32(fixed32(16), SAMPLED | IS_REMOTE_KNOWN | (hasParent ? IS_REMOTE : 0));
    writer.end(start);
  }

  take(): Uint8Array {
    const spans = this.writer.finish();
    const { writer } = this;
    const { resource, scope } = this.origin;
    const resourceSpans = writer.begin(bytes(1));
    const ofResource = writer.begin(bytes(1));
    this.attributes(bytes(1), resource.attributes);
    writer.uint(varint(2), 0);
    writer.end(ofResource);
    const scopeSpans = writer.begin(bytes(2));
    const ofScope = writer.begin(bytes(1));
    writer.text(bytes(1), scope.name);
    if (scope.version !== '') writer.text(bytes(2), scope.version);
    writer.end(ofScope);
    writer.raw(spans);
    writer.end(scopeSpans);
    writer.end(resourceSpans);
    return writer.finish();
  }

  private exception(error: SpanError, at: number): void {
    const { writer } = this;
    const message = messageOf(error);
    const start = writer.begin(bytes(11));
    this.time(fixed64(1), at);
    writer.text(bytes(2), 'exception');
    this.attribute(bytes(3), 'exception.type', error.type);
    this.attribute(bytes(3), 'exception.message', message);
    writer.uint(varint(4), 0);
    writer.end(start);
  }

  private link(context: string): void {
    const { writer } = this;
    const start = writer.begin(bytes(13));
    writer.hex(bytes(1), traceIdOf(context));
    writer.hex(bytes(2), spanIdOf(context));
    writer.uint(varint(5), 0);
    writer.fixed32(fixed32(6), flagsOf(context) | IS_REMOTE_KNOWN | IS_REMOTE);
    writer.end(start);
  }

  private status(error: SpanError | undefined): void {
    const { writer } = this;
    const message = error && messageOf(error);
    const start = writer.begin(bytes(15));
    if (message !== undefined && message !== '') writer.text(bytes(2), message);
    writer.uint(varint(3), error === undefined ? 0 : STATUS_ERROR);
    writer.end(start);
  }

  private attributes(tag: number, attributes: Readonly<Record<string, AttributeValue | undefined>>): void {
    for (const key in attributes) this.attribute(tag, key, attributes[key]);
  }

  private attribute(tag: number, key: string, value: AttributeValue | undefined): void {
    if (value === undefined) return;
    const { writer } = this;
    const start = writer.begin(tag);
    writer.raw(this.keys.get(key) ?? this.learn(key));
    const ofValue = writer.begin(bytes(2));
    if (typeof value === 'string') writer.text(bytes(1), value);
    else if (typeof value === 'boolean') writer.uint(varint(2), value ? 1 : 0);
    else if (isInt64(value)) writer.int64(varint(3), Number(value));
    else writer.double(fixed64(4), Number(value));
    writer.end(ofValue);
    writer.end(start);
  }

  private learn(key: string): Buffer {
    const field = new ProtobufWriter();
    field.text(bytes(1), key);
    const written = field.finish();
    this.keys.set(key, written);
    return written;
  }

  /** Nanoseconds of epoch ms, in halves of 32 bits: whole, they are beyond what a number holds exactly. */
  private time(tag: number, ms: number): void {
    const seconds = Math.floor(ms / 1000);
    const nanos = Math.round((ms % 1000) * 1e6);
    const upper = Math.floor(seconds / 0x10000) * 1e9;
    const lower = (upper % 0x10000) * 0x10000 + (seconds % 0x10000) * 1e9 + nanos;
    this.writer.fixed64(tag, Math.floor(upper / 0x10000) + Math.floor(lower / 2 ** 32), lower % 2 ** 32);
  }
}

const isInt64 = (value: AttributeValue): boolean =>
  Number.isInteger(value) && Number(value) >= -(2 ** 63) && Number(value) < 2 ** 63;
