import { AxError, messageOf } from '../../../domain/errors.js';
import { type Reason } from '../../../domain/reason.js';
import { printable } from '../output-tail.js';

const NOT_FOUND = 404;
/** Class and method of the frame that the broker refused: basic.publish. */
const PUBLISH = { classId: 60, methodId: 40 };

/** What the driver leaves on an error. */
interface DriverError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly classId?: unknown;
  readonly methodId?: unknown;
}

const facts = (error: unknown): DriverError => (error instanceof Error ? (error as DriverError) : {});

/** Several addresses of one name that all failed come as one error without a text: the first one speaks. */
const rootOf = (error: unknown): unknown =>
  error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error;

/** A broker that cannot be connected to, as AxError `unavailable`. */
export function notConnected(broker: string, error: unknown): AxError {
  const cause = rootOf(error);
  return new AxError('unavailable', `broker "${broker}": ${errorLine(cause)}`, { cause });
}

/** Why nothing was sent: no connection, or none any more. */
export function unsentReason(error: unknown): Reason {
  if (!(error instanceof AxError)) return 'channel_closed';
  const { code, syscall } = facts(error.cause);
  if (syscall === 'getaddrinfo') return 'dns';
  return typeof code === 'string' && /CERT|TLS|SSL|SIGNED|UNABLE_TO/.test(code) ? 'tls' : 'connect';
}

/** Whether the broker refused this very publish, so that it went nowhere. */
export const wasRefused = (error: Error): boolean =>
  facts(error).classId === PUBLISH.classId && facts(error).methodId === PUBLISH.methodId;

/** Whether the broker refused it for an exchange that is not there. */
export const isUnknownExchange = (error: Error): boolean =>
  wasRefused(error) && facts(error).code === NOT_FOUND;

/** Of a socket (`ECONNREFUSED`) or of the broker (`404`), or the name of the error. */
export function errorCode(error: unknown): string {
  const root = rootOf(error instanceof AxError ? error.cause : error);
  const { code } = facts(root);
  if (typeof code === 'string' || typeof code === 'number') return String(code);
  return root instanceof Error ? root.name : 'unknown';
}

export const errorLine = (error: unknown): string =>
  printable(messageOf(rootOf(error)).split('\n', 1)[0] ?? '');
