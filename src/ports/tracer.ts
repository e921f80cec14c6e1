import { type Clock } from './clock.js';

/**
 * Trace contexts of runs, as W3C Trace Context `traceparent` values (https://www.w3.org/TR/trace-context/), and the spans of their steps.
 * A step gets its context before it begins, so that it can be sent along, and is told of when it has ended.
 */
export interface Tracer {
  /** Starts a trace, or continues the caller's `parent` if that is a valid traceparent. Decides whether the trace is sampled. */
  start(parent: string | null): string;
  /**
   * A new span in the trace of `parent`, which is what `start` or `child` answered here or in another process; sampled as that is. The same
   * `key` makes the same span again, for whoever comes later and has to name it.
   */
  child(parent: string, key?: string): string;
  /**
   * Tells of a step that has ended. `times` is called at once or never, `describe` at once, later or never: its answer must not change.
   * Never waits, never throws.
   */
  record(context: string, times: () => SpanTimes, describe: () => SpanFacts): void;
  /** The run is worth its trace although that may not be sampled: what was recorded of it here, and what will be, is kept. */
  keep(context: string): void;
  /** The run has ended for this process: what was recorded of it is forgotten unless it is sampled or kept. */
  forget(context: string): void;
}

/** What there is to tell of a step that has ended. */
export interface SpanFacts {
  /** Of few values: no ids in it. */
  readonly name: string;
  readonly kind: 'internal' | 'producer' | 'consumer' | 'client';
  /** Context of the step that this one is part of; one of another trace counts as none. */
  readonly parent: string | null;
  /** Names of the semantic conventions of OpenTelemetry where they have one, else `ax.…`. Undefined: left out. */
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Absent: it went well. */
  readonly error?: SpanError | undefined;
  /** Contexts of other steps that this one has to do with. */
  readonly links?: readonly string[];
}

/** Epoch ms, with fractions. */
export interface SpanTimes {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** From now until it is asked. */
export function stopwatch(clock: Clock): () => SpanTimes {
  const startedAt = clock.now();
  const since = clock.monotonicMs();
  return () => ({ startedAt, endedAt: startedAt + clock.monotonicMs() - since });
}

export interface SpanError {
  /** Of few values: a reason, a code. */
  readonly type: string;
  readonly message: string | null;
}

/** The 32 hex digits of the trace, for logs. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);

/** The 16 hex digits of the span. */
export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52);

/** Whether the trace was chosen to be exported where it began. A run that turns out notable may be exported all the same. */
export const isSampled = (traceparent: string): boolean =>
  (Number.parseInt(traceparent.charAt(54), 16) & 1) === 1;
