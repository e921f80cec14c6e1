/** Trace contexts of runs, as W3C Trace Context `traceparent` values (https://www.w3.org/TR/trace-context/). */
export interface Tracer {
  /** Starts a trace, or continues the caller's `parent` if that is a valid traceparent. */
  start(parent: string | null): string;
  /** A new span in the same trace; a broken `parent` starts a new trace. */
  child(parent: string): string;
}

/** The 32 hex digits of the trace, for logs. */
export const traceIdOf = (traceparent: string): string => traceparent.split('-')[1] ?? '';
