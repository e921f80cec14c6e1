import { AxError, type ErrorCode, type FieldProblem, InvalidInput } from '../../domain/errors.js';

/** Kinds of problem that only HTTP knows; the others are the error codes of ax. */
type HttpCode =
  'unauthorized' | 'method_not_allowed' | 'payload_too_large' | 'unsupported_media_type' | 'internal_error';

type ProblemCode = ErrorCode | HttpCode;

/** A refusal that HTTP itself makes. `errors` name the part of the request and the fix. */
export class HttpError extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly errors: readonly FieldProblem[],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(linesOf(errors));
    this.name = 'HttpError';
  }
}

/** A problem document (RFC 9457) with `code` and `errors` as extension members, and the headers that go with it. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly document: Readonly<Record<string, unknown>>;
}

const KINDS: Readonly<Record<ProblemCode, { readonly status: number; readonly title: string }>> = {
  invalid_input: { status: 400, title: 'The request was refused' },
  unauthorized: { status: 401, title: 'A valid token is needed' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'There is no such thing' },
  method_not_allowed: { status: 405, title: 'This method is not possible here' },
  already_exists: { status: 409, title: 'It exists already' },
  version_conflict: { status: 409, title: 'Somebody else changed it first' },
  conflict: { status: 409, title: 'Not possible in its present state' },
  illegal_transition: { status: 409, title: 'Not possible in its present state' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body is not JSON' },
  corrupt_row: { status: 500, title: 'Something broke inside ax' },
  refused_start: { status: 500, title: 'Something broke inside ax' },
  internal_error: { status: 500, title: 'Something broke inside ax' },
  not_ready: { status: 503, title: 'Not possible yet' },
  unavailable: { status: 503, title: 'A store cannot be reached' },
};

const RETRY_AFTER_SEC = '2';
const UNAVAILABLE =
  'a store that ax needs cannot be reached; a change was made as a whole or not at all; try again later';

/** What to answer for anything thrown. `hasIfMatch`: the request named the version it expects in If-Match. */
export function problemOf(thrown: unknown, hasIfMatch: boolean): Problem {
  if (thrown instanceof HttpError) return build(thrown.code, thrown.message, thrown.errors, thrown.headers);
  if (thrown instanceof InvalidInput) return build('invalid_input', thrown.message, thrown.problems);
  if (thrown instanceof AxError) return problemOfAx(thrown, hasIfMatch);
  return problemOfExpress(thrown);
}

function problemOfAx(error: AxError, hasIfMatch: boolean): Problem {
  // What a driver said is for the log.
  const said = error.cause === undefined ? error.message : 'the store refused it';
  const about = (field: string, fix: string): Problem =>
    build(error.code, said, [{ field, problem: said, fix }]);
  switch (error.code) {
    case 'version_conflict': {
      const fix = 'read it again and repeat the change on its version';
      return hasIfMatch ? withStatus(about('If-Match', fix), 412) : about('version', fix);
    }
    case 'already_exists':
      return about('id', 'choose another one, or change the existing one with PUT');
    case 'not_found':
      return about('id', 'check the id; lists show the ones that exist');
    case 'invalid_input':
      return about('request', 'send shorter or plainer values');
    case 'conflict':
    case 'illegal_transition':
    case 'forbidden':
      return build(error.code, said, []);
    case 'not_ready':
      return build(error.code, said, [], { 'Retry-After': RETRY_AFTER_SEC });
    case 'unavailable':
      return build(error.code, UNAVAILABLE, [], { 'Retry-After': RETRY_AFTER_SEC });
    default:
      return internal();
  }
}

/** Errors of express and its body reader carry a status; only those of the client's making are shown. */
function problemOfExpress(thrown: unknown): Problem {
  const { status, type } = (thrown ?? {}) as { readonly status?: unknown; readonly type?: unknown };
  const refuse = (code: ProblemCode, problem: string, fix: string) => {
    const errors = [{ field: code === 'invalid_input' ? 'request' : 'body', problem, fix }];
    return build(code, linesOf(errors), errors);
  };
  if (type === 'entity.too.large')
    return refuse('payload_too_large', 'is too large', 'send at most 262144 bytes');
  if (type === 'encoding.unsupported')
    return refuse('unsupported_media_type', 'is compressed', 'send it without Content-Encoding');
  if (typeof status === 'number' && status >= 400 && status < 500)
    return refuse('invalid_input', 'could not be read', 'check the URL encoding and the length of the body');
  return internal();
}

const internal = (): Problem =>
  build('internal_error', 'the error was logged; the answer says no more on purpose', []);

const withStatus = (problem: Problem, status: number): Problem => ({
  ...problem,
  status,
  document: { ...problem.document, status },
});

function build(
  code: ProblemCode,
  detail: string,
  errors: readonly FieldProblem[],
  headers: Readonly<Record<string, string>> = {},
): Problem {
  const { status, title } = KINDS[code];
  const document = { type: `urn:ax:problem:${code}`, title, status, detail, code, errors };
  return { status, headers, document };
}

const linesOf = (errors: readonly FieldProblem[]): string =>
  errors.map(({ field, problem, fix }) => `${field}: ${problem}; ${fix}`).join(' | ');
