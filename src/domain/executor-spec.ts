import { type FieldProblem } from './errors.js';

export const HTTP_METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** One HTTP call per attempt; 2xx is success. */
export interface HttpExecutorSpec {
  readonly type: 'http';
  readonly url: string;
  readonly method: HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a task does when it fires. */
export type ExecutorSpec = HttpExecutorSpec;
export type ExecutorType = ExecutorSpec['type'];

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Latin-1 without control characters: what a header line can carry. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;
/** Set by ax itself, or by the connection. */
const RESERVED_HEADERS =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|idempotency-key|traceparent|tracestate|x-ax-.*)$/i;
const MAX_HEADERS = 50;
const MAX_URL_LENGTH = 2048;

/** Every broken rule of an executor, by API field (`executor.url`, …); empty when it holds. */
export function executorProblems(spec: ExecutorSpec): FieldProblem[] {
  return [...urlProblems(spec.url), ...headerProblems(spec.headers)];
}

function urlProblems(url: string): FieldProblem[] {
  const refuse = (problem: string, fix: string): FieldProblem[] => [{ field: 'executor.url', problem, fix }];
  if (url.length > MAX_URL_LENGTH) return refuse('is too long', `use at most ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(url))
    return refuse('is not an absolute URL', 'give a URL such as "http://orders:8080/jobs/sync"');
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return refuse(`"${parsed.protocol}" is not supported`, 'use http: or https:');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return refuse('carries credentials', 'send them in a header instead');
  }
  return [];
}

function headerProblems(headers: Readonly<Record<string, string>>): FieldProblem[] {
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) {
    return [{ field: 'executor.headers', problem: 'too many headers', fix: `give at most ${MAX_HEADERS}` }];
  }
  return names.flatMap((name) => {
    const field = `executor.headers.${name}`;
    if (!HEADER_NAME.test(name))
      return [{ field, problem: 'is not a header name', fix: 'use letters, digits and "-"' }];
    if (RESERVED_HEADERS.test(name)) return [{ field, problem: 'is set by ax', fix: 'leave it out' }];
    if (HEADER_VALUE.test(headers[name] ?? '')) return [];
    return [
      {
        field,
        problem: 'has a line break, a control character or one that headers cannot carry',
        fix: 'use one line of Latin-1 text, 4096 characters at most',
      },
    ];
  });
}
