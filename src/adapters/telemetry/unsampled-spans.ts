/** Most spans, and traces, that wait for the end of their runs: the oldest traces are given up first. */
const LIMITS = { spans: 20_000, traces: 10_000 };

interface Trace<T> {
  spans: T[];
  isKept: boolean;
}

/**
 * Spans of traces that were not chosen to be exported, until it shows whether their runs are worth it: a failure does not know of itself at
 * the start. Bounded; what a process that dies had here is lost.
 */
export class UnsampledSpans<T> {
  private readonly traces = new Map<string, Trace<T>>();
  private waiting = 0;

  constructor(
    private readonly release: (span: T) => void,
    private readonly limits = LIMITS,
  ) {}

  add(traceId: string, span: T): void {
    const trace = this.trace(traceId);
    if (trace.isKept) return this.release(span);
    trace.spans.push(span);
    this.waiting++;
    while (this.waiting > this.limits.spans || this.traces.size > this.limits.traces) this.giveUpOldest();
  }

  keep(traceId: string): void {
    const trace = this.trace(traceId);
    trace.isKept = true;
    this.waiting -= trace.spans.length;
    for (const span of trace.spans.splice(0)) this.release(span);
    if (this.traces.size > this.limits.traces) this.giveUpOldest();
  }

  /** What is kept stays so for a while, since more may come of it. */
  forget(traceId: string): void {
    if (this.traces.get(traceId)?.isKept === false) this.giveUp(traceId);
  }

  private trace(traceId: string): Trace<T> {
    const known = this.traces.get(traceId);
    if (known !== undefined) return known;
    const begun = { spans: [], isKept: false };
    this.traces.set(traceId, begun);
    return begun;
  }

  private giveUpOldest(): void {
    for (const [oldest] of this.traces) return this.giveUp(oldest);
  }

  private giveUp(traceId: string): void {
    this.waiting -= this.traces.get(traceId)?.spans.length ?? 0;
    this.traces.delete(traceId);
  }
}
