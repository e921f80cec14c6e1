import { AxError } from '../../domain/errors.js';
import { type Dialect, type DriverFailure } from './dialect.js';

const CODES = {
  duplicate: 'conflict',
  contention: 'unavailable',
  unavailable: 'unavailable',
  refused_value: 'invalid_input',
} as const satisfies Record<DriverFailure['kind'], AxError['code']>;

/** A driver's error as an AxError; anything else (a bug, an error of a callback) as it is. */
export function toAxError(error: unknown, dialect: Dialect): unknown {
  if (error instanceof AxError) return error;
  const failure = dialect.failureOf(error);
  if (failure === null) return error;
  return new AxError(CODES[failure.kind], `the store answered: ${failure.message}`, {
    cause: slim(error, failure),
  });
}

/** The driver's error carries the whole statement, which for a batch is longer than any log line should be. */
function slim(error: unknown, failure: DriverFailure): Error {
  const { name, code, stack } = error as { name?: string; code?: string; stack?: string };
  const cause = new Error(failure.message);
  const frames = stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  cause.stack = [`${name ?? 'Error'}: ${failure.message}`, ...frames].join('\n');
  return Object.assign(cause, code === undefined ? {} : { code });
}
