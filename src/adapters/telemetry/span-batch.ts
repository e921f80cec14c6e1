import { type SpanFacts, type SpanTimes } from '../../ports/tracer.js';

/** Spans that are exported together, in the form in which they are sent. */
export interface SpanBatch<T> {
  /** `context`: of a tracer. */
  add(context: string, times: SpanTimes, facts: SpanFacts): void;
  /** What was added; the batch is empty afterwards. */
  take(): T;
}
