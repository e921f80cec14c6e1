import { type Outcome } from '../../domain/execution.js';
import { type HttpExecutorSpec } from '../../domain/executors/http-spec.js';
import { type Clock } from '../../ports/clock.js';
import { type Executor, type ExecutorRequest } from '../../ports/executor.js';
import { HttpExchange } from './http-exchange.js';
import { outcomeOf } from './http-outcome.js';
import { httpRequestOf } from './http-request.js';
import { stopReasonOf } from './stop-reason.js';

export interface HttpExecutorOptions {
  readonly clock: Clock;
  /** Of ax, for the User-Agent. */
  readonly version: string;
  /** Trusted authorities as PEM instead of the process's own. */
  readonly ca?: string;
}

/**
 * Calls an HTTP target: 2xx is success, any other answer and a broken connection are fail, `timeoutMs` covers everything from the
 * name's resolution to the last byte. The body is read to its end and not kept, but for its tail. Redirects are not followed.
 */
export class HttpExecutor implements Executor<HttpExecutorSpec> {
  readonly type = 'http';

  constructor(private readonly options: HttpExecutorOptions) {}

  async execute(request: ExecutorRequest<HttpExecutorSpec>, signal: AbortSignal): Promise<Outcome> {
    const { clock, version, ca } = this.options;
    const exchange = new HttpExchange(ca);
    const startedAt = clock.monotonicMs();
    const stop = () => exchange.end({ kind: 'stopped', reason: stopReasonOf(signal) });
    signal.addEventListener('abort', stop, { once: true });
    const cancelDeadline = clock.schedule(request.timeoutMs, () => exchange.end({ kind: 'deadline' }));
    try {
      if (signal.aborted) stop();
      else exchange.send(httpRequestOf(request, version));
      const end = await exchange.ended;
      const times = { durationMs: clock.monotonicMs() - startedAt, timeoutMs: request.timeoutMs };
      const outcome = outcomeOf(exchange, end, times);
      if (outcome.status !== 'success' || !signal.aborted) return outcome;
      // The abort came while the connection of a complete answer was closing: aborted is never success.
      return outcomeOf(exchange, { kind: 'stopped', reason: stopReasonOf(signal) }, times);
    } finally {
      cancelDeadline();
      signal.removeEventListener('abort', stop);
    }
  }

  /** No connection outlives its attempt, so there is none to end. */
  async close(): Promise<void> {}
}
