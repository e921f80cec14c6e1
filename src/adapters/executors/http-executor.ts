import { type Outcome } from '../../domain/execution.js';
import { type HttpExecutorSpec } from '../../domain/executors/http-spec.js';
import { type Clock } from '../../ports/clock.js';
import { type Delivered, type Executor, type ExecutorRequest } from '../../ports/executor.js';
import { CallRefused } from './call-refused.js';
import { EgressRules } from './egress-rules.js';
import { HttpExchange } from './http-exchange.js';
import { outcomeOf } from './http-outcome.js';
import { type HttpRequest, httpRequestOf } from './http-request.js';
import { httpSignature, secretNamed } from './http-signature.js';
import { stopReasonOf } from './stop-reason.js';

export interface HttpExecutorOptions {
  readonly clock: Clock;
  /** Of ax, for the User-Agent. */
  readonly version: string;
  /** By the names that tasks use; none by default. */
  readonly secrets?: ReadonlyMap<string, string>;
  /** By default only link-local and metadata addresses are denied. */
  readonly egress?: EgressRules;
  /** Trusted authorities as PEM instead of the process's own. */
  readonly ca?: string;
}

type HttpCall = ExecutorRequest<HttpExecutorSpec>;

/**
 * Calls an HTTP target: 2xx is success, any other answer and a broken connection are fail, `timeoutMs` covers everything from the
 * name's resolution to the last byte. With a receipt address in the request, 202 is delivered. The body is read to its end and not kept,
 * but for its tail. Redirects are not followed. `egress` decides on each connection, whoever asks for the call, a task or a hook.
 */
export class HttpExecutor implements Executor<HttpExecutorSpec> {
  readonly type = 'http';
  private readonly secrets: ReadonlyMap<string, string>;
  private readonly egress: EgressRules;

  constructor(private readonly options: HttpExecutorOptions) {
    this.secrets = options.secrets ?? new Map();
    this.egress = options.egress ?? new EgressRules();
  }

  async execute(request: HttpCall, signal: AbortSignal): Promise<Outcome | Delivered> {
    const { clock, ca } = this.options;
    const exchange = new HttpExchange(this.egress, ca);
    const startedAt = clock.monotonicMs();
    const stop = () => exchange.end({ kind: 'stopped', reason: stopReasonOf(signal) });
    signal.addEventListener('abort', stop, { once: true });
    const cancelDeadline = clock.schedule(request.timeoutMs, () => exchange.end({ kind: 'deadline' }));
    try {
      if (signal.aborted) stop();
      else this.send(request, exchange);
      const end = await exchange.ended;
      const { timeoutMs, receipt } = request;
      const durationMs = clock.monotonicMs() - startedAt;
      const facts = { durationMs, timeoutMs, awaitsReceipt: receipt !== null };
      const outcome = outcomeOf(exchange, end, facts);
      if (!signal.aborted || (outcome.status !== 'success' && outcome.status !== 'delivered')) return outcome;
      // The abort came while the connection of a complete answer was closing: aborted is never success.
      return outcomeOf(exchange, { kind: 'stopped', reason: stopReasonOf(signal) }, facts);
    } finally {
      cancelDeadline();
      signal.removeEventListener('abort', stop);
    }
  }

  /** No connection outlives its attempt, so there is none to end. */
  async close(): Promise<void> {}

  private send(request: HttpCall, exchange: HttpExchange): void {
    try {
      exchange.send(this.signed(httpRequestOf(request, this.options.version), request.spec.signature));
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      exchange.end({ kind: 'broken', error });
    }
  }

  /** @throws CallRefused `configuration` without its secret. */
  private signed(call: HttpRequest, signature: HttpExecutorSpec['signature']): HttpRequest {
    if (signature === null) return call;
    const secret = secretNamed(signature.secret, this.secrets);
    const value = httpSignature(secret, call, this.options.clock.now());
    return { ...call, headers: { ...call.headers, 'X-Ax-Signature': value } };
  }
}
