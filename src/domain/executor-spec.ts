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
  const problems: FieldProblem[] = [];
  const refuse = (problem: string, fix: string) => problems.push({ field: 'executor.url', problem, fix });
  if (url.length > MAX_URL_LENGTH) refuse('is too long', `use at most ${MAX_URL_LENGTH} characters`);
  if (/[\s\p{Cc}]/u.test(url)) refuse('has white space or control characters', 'write them as "%20"');
  if (!URL.canParse(url)) {
    refuse('is not an absolute URL', 'give a URL such as "http://orders:8080/jobs/sync"');
    return problems;
  }
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    refuse(`"${protocol}" is not supported`, 'use http: or https:');
  if (username !== '' || password !== '') refuse('carries credentials', 'send them in a header instead');
  return problems;
}

function headerProblems(headers: Readonly<Record<string, string>>): FieldProblem[] {
  const names = Object.keys(headers);
  const fix = `give at most ${MAX_HEADERS}`;
  const count =
    names.length > MAX_HEADERS
      ? [{ field: 'executor.headers', problem: `has ${names.length} headers`, fix }]
      : [];
  return [...count, ...names.flatMap((name) => headerProblem(name, headers[name] ?? ''))];
}

function headerProblem(name: string, value: string): FieldProblem[] {
  const refuse = (problem: string, fix: string): FieldProblem[] => [
    { field: `executor.headers.${name}`, problem, fix },
  ];
  if (!HEADER_NAME.test(name)) return refuse('is not a header name', 'use letters, digits and "-"');
  if (RESERVED_HEADERS.test(name)) return refuse('is set by ax', 'leave it out');
  if (HEADER_VALUE.test(value)) return [];
  return refuse(
    'has a line break, a control character or one that headers cannot carry',
    'use one line of Latin-1 text, 4096 characters at most',
  );
}
