import { type Outcome } from '../domain/execution.js';
import { AxError, messageOf } from '../domain/errors.js';
import { type Clock } from '../ports/clock.js';
import { type SpanError, type SpanFacts, stopwatch, type Tracer } from '../ports/tracer.js';

interface TracedDeps {
  readonly tracer: Tracer;
  readonly clock: Clock;
}

interface Step<T> {
  readonly name: string;
  readonly parent: string;
  /** Gets the context of the step. */
  readonly run: (context: string) => Promise<T>;
  /** What it came to. */
  readonly tell: (result: T) => Pick<SpanFacts, 'attributes' | 'error'>;
}

/** Runs one step as a span of its own; one that throws ends with an error. */
export async function traced<T>({ tracer, clock }: TracedDeps, step: Step<T>): Promise<T> {
  const { name, parent, run, tell } = step;
  const context = tracer.child(parent);
  const times = stopwatch(clock);
  const record = (told: () => Pick<SpanFacts, 'attributes' | 'error'>) =>
    tracer.record(context, times, () => ({ name, kind: 'internal', parent, ...told() }));
  try {
    const result = await run(context);
    record(() => tell(result));
    return result;
  } catch (error) {
    record(() => ({ attributes: {}, error: thrown(error) }));
    throw error;
  }
}

/** What a target did, if it was not what it should have done. */
export const failureOf = ({
  status,
  reason,
  message,
}: Pick<Outcome, 'reason' | 'message'> & { readonly status: string }): SpanError | undefined =>
  status === 'fail' || status === 'timeout' ? { type: reason ?? status, message } : undefined;

export const thrown = (error: unknown): SpanError => ({
  type: error instanceof AxError ? error.code : error instanceof Error ? error.name : 'unknown',
  message: messageOf(error),
});
