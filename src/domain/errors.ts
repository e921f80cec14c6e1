/** Machine-readable kinds of failure; callers compare `code`, never the message. */
export type ErrorCode =
  | 'invalid_input'
  | 'not_found'
  | 'already_exists'
  | 'version_conflict'
  | 'illegal_transition'
  | 'conflict'
  | 'forbidden'
  | 'not_ready'
  | 'unavailable'
  | 'corrupt_row'
  | 'refused_start';

export interface ErrorOptionsWithCause {
  readonly cause?: unknown;
  readonly retryable?: boolean;
}

/** Base of every error that ax throws on purpose. `retryable` says whether the same call may succeed later. */
export class AxError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: ErrorOptionsWithCause = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AxError';
    this.code = code;
    this.retryable = options.retryable ?? code === 'unavailable';
  }
}

/**
 * One refused field: its API name, what is wrong with it, and what to send instead. Where only a part of a text is wrong: a stable name of
 * what it is, the part, and its place, counted from 1.
 */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
  readonly fix: string;
  readonly kind?: string;
  readonly token?: string;
  readonly position?: number;
}

/** Refused input; carries every problem found, never only the first. */
export class InvalidInput extends AxError {
  readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[]) {
    super('invalid_input', problems.map((p) => `${p.field}: ${p.problem}; ${p.fix}`).join(' | '));
    this.name = 'InvalidInput';
    this.problems = problems;
  }

  static of(field: string, problem: string, fix: string): InvalidInput {
    return new InvalidInput([{ field, problem, fix }]);
  }
}

/** The message of anything thrown, for logs and stored errors. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
