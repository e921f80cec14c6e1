import { type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { type SpanFacts, type SpanTimes } from '../../ports/tracer.js';
import { RunSpan, type SpanOrigin } from './run-span.js';
import { type SpanBatch } from './span-batch.js';

/** Spans for an exporter of OpenTelemetry. */
export class ListedSpans implements SpanBatch<ReadableSpan[]> {
  private spans: ReadableSpan[] = [];

  constructor(private readonly origin: SpanOrigin) {}

  add(context: string, times: SpanTimes, facts: SpanFacts): void {
    this.spans.push(new RunSpan(context, times, facts, this.origin));
  }

  take(): ReadableSpan[] {
    const { spans } = this;
    this.spans = [];
    return spans;
  }
}
