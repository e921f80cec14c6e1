import { AxError, messageOf } from '../../domain/errors.js';

/** Answers of a server that is there and will be able to serve the same command later. */
const PASSING_REPLY =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS|UNBLOCKED)\b/;

/** The driver's error as AxError `unavailable`; `retryable` unless the server refused the command for good. */
export function unavailable(error: unknown): AxError {
  if (error instanceof AxError) return error;
  // The driver attaches the command, whose arguments are payloads or, for AUTH, the password.
  if (error instanceof Error) Reflect.deleteProperty(error, 'command');
  const isReply = error instanceof Error && error.name === 'ReplyError';
  return new AxError('unavailable', `Redis: ${messageOf(error)}`, {
    cause: error,
    retryable: !isReply || PASSING_REPLY.test(error.message),
  });
}

export const isNoScript = (error: unknown): boolean => messageOf(error).startsWith('NOSCRIPT');

/** The consumer group or its stream is gone, because the data was lost or deleted. */
export const isNoGroup = (error: unknown): boolean => /^(NOGROUP|UNBLOCKED)\b/.test(messageOf(error));
