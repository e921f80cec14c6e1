import { type HttpExecutorSpec } from '../../domain/executors/http-spec.js';
import { type ExecutorRequest } from '../../ports/executor.js';
import { runBody } from './run-body.js';

/** One request as it goes out. */
export interface HttpRequest {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'DELETE']);

/** The call that an attempt makes; the idempotency key is the same for all attempts of one execution. */
export function httpRequestOf(request: ExecutorRequest<HttpExecutorSpec>, version: string): HttpRequest {
  const { spec } = request;
  const url = new URL(spec.url);
  const body = METHODS_WITHOUT_BODY.has(spec.method) ? null : runBody(request);
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: spec.method,
    headers: {
      ...(hasUserAgent(spec.headers) ? {} : { 'User-Agent': `ax/${version}` }),
      ...spec.headers,
      ...(body === null ? {} : { 'Content-Type': 'application/json' }),
      'Idempotency-Key': request.hook?.key ?? request.executionId,
      ...(request.hook === undefined ? {} : { 'X-Ax-Hook': request.hook.kind }),
      traceparent: request.traceparent,
      'X-Ax-Task-Id': request.taskId,
      'X-Ax-Execution-Id': request.executionId,
      'X-Ax-Attempt': String(request.attempt),
      'X-Ax-Schedule-At': String(request.slot),
      'X-Ax-Fired-At': String(request.firedAt),
      ...receiptHeaders(request),
    },
    body,
  };
}

function receiptHeaders({ receipt }: ExecutorRequest<HttpExecutorSpec>): Record<string, string> {
  if (receipt === null) return {};
  const { token, url } = receipt;
  return { 'X-Ax-Receipt-Token': token, ...(url === null ? {} : { 'X-Ax-Receipt-Url': url }) };
}

const hasUserAgent = (headers: Readonly<Record<string, string>>): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'user-agent');
