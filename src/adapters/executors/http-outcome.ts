import { type Evidence, type Outcome } from '../../domain/execution.js';
import { type Reason } from '../../domain/reason.js';
import { type Delivered } from '../../ports/executor.js';
import { CallRefused } from './call-refused.js';
import { type ExchangeEnd, type HttpExchange, type Phase } from './http-exchange.js';
import { printable } from './output-tail.js';

/** A connection that broke in this phase. */
const BROKEN_REASON: Readonly<Record<Phase, Reason>> = {
  start: 'connect',
  dns: 'dns',
  connect: 'connect',
  tls: 'tls',
  headers: 'network',
  body: 'network',
};

const DOING: Readonly<Record<Phase, string>> = {
  start: 'before connecting',
  dns: 'while resolving the name',
  connect: 'while connecting',
  tls: 'in the TLS handshake',
  headers: 'while waiting for the response',
  body: 'while reading the response body',
};

const MAX_LOCATION = 2048;

/**
 * What an ended exchange means. `awaitsReceipt`: a 202 says that the target took the attempt over; any other 2xx, that it has done it. Evidence: `duration_ms` always; `http_status`, `location`, `bytes` and `output_tail` as far as a
 * response came; `phase` if it did not come to its end; `error_code` as Node or undici gave it.
 */
export function outcomeOf(
  exchange: HttpExchange,
  end: ExchangeEnd,
  {
    awaitsReceipt,
    ...times
  }: { readonly durationMs: number; readonly timeoutMs: number; readonly awaitsReceipt: boolean },
): Outcome | Delivered {
  const evidence = { ...evidenceOf(exchange, end), duration_ms: Math.round(times.durationMs) };
  const doing = DOING[exchange.phase];
  switch (end.kind) {
    case 'answered':
      return awaitsReceipt && exchange.httpStatus === 202
        ? { status: 'delivered', evidence }
        : answered(exchange, evidence);
    case 'deadline': {
      const message = `no complete response within ${times.timeoutMs} ms; ended ${doing}`;
      return { status: 'timeout', reason: 'deadline', message, evidence };
    }
    case 'stopped':
      return { status: 'fail', reason: end.reason, message: `${end.reason} ${doing}`, evidence };
    case 'broken': {
      const { error } = end;
      if (error instanceof CallRefused) {
        const { reason, message } = error;
        return { status: 'fail', reason, message, evidence: { ...evidence, ...error.evidence } };
      }
      const message = `${printable(errorLine(error))} ${doing}`;
      return { status: 'fail', reason: BROKEN_REASON[exchange.phase], message, evidence };
    }
  }
}

function answered(exchange: HttpExchange, evidence: Evidence): Outcome {
  const status = exchange.httpStatus ?? 0;
  if (status >= 200 && status < 300) return { status: 'success', reason: null, message: null, evidence };
  if (status < 300 || status >= 400) {
    return { status: 'fail', reason: 'http_status', message: `answered ${status}`, evidence };
  }
  const target = 'location' in evidence ? ` to ${evidence.location}` : '';
  const message = `answered ${status}, a redirect${target}; redirects are not followed`;
  return { status: 'fail', reason: 'redirect', message, evidence };
}

function evidenceOf(exchange: HttpExchange, end: ExchangeEnd): Evidence {
  const evidence: Record<string, string | number> = {};
  if (end.kind !== 'answered') evidence['phase'] = exchange.phase;
  if (end.kind === 'broken') evidence['error_code'] = errorCode(end.error);
  if (exchange.httpStatus === null) return evidence;
  evidence['http_status'] = exchange.httpStatus;
  if (exchange.location !== null) evidence['location'] = printable(exchange.location.slice(0, MAX_LOCATION));
  evidence['bytes'] = exchange.output.bytes;
  if (exchange.output.bytes > 0) evidence['output_tail'] = exchange.output.text();
  return evidence;
}

/** Several addresses of one name that all failed come as one error without a text: the first one speaks. */
const rootOf = (error: Error): Error =>
  error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;

const errorLine = (error: Error): string => rootOf(error).message.split('\n', 1)[0] ?? '';

function errorCode(error: Error): string {
  const root = rootOf(error);
  return 'code' in root && typeof root.code === 'string' ? root.code : root.name;
}
