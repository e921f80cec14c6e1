import { type FieldProblem } from '../errors.js';
import { isTextRecord } from './text-record.js';

export const HTTP_METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

export const HTTP_ACKS = ['response', 'receipt'] as const;

/** One HTTP call per attempt. */
export interface HttpExecutorSpec {
  readonly type: 'http';
  readonly url: string;
  readonly method: HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  /** `response`: 2xx is success. `receipt`: 202 says that the work has begun, and a receipt says how it ended. */
  readonly ack: (typeof HTTP_ACKS)[number];
  /** Requests are signed with the secret of this name, which the workers know; null: not signed. */
  readonly signature: { readonly secret: string } | null;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Latin-1 without control characters: what a header line can carry. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;
/** Set by ax itself, or by the connection. */
const RESERVED_HEADERS =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|idempotency-key|traceparent|tracestate|x-ax-.*)$/i;
const MAX_HEADERS = 50;
const MAX_URL_LENGTH = 2048;

const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

/** Every broken rule, by API field (`executor.url`, …); empty when it holds. */
export function httpSpecProblems(spec: HttpExecutorSpec): FieldProblem[] {
  return [...urlProblems(spec.url), ...headerProblems(spec.headers), ...signatureProblems(spec.signature)];
}

/** From stored JSON, also of a time that knew fewer fields; null if it is none. */
export function restoreHttpSpec(stored: Readonly<Record<string, unknown>>): HttpExecutorSpec | null {
  const { url, method, headers, ack = 'response', signature = null } = stored;
  if (typeof url !== 'string' || !isOneOf(HTTP_METHODS, method)) return null;
  if (!isTextRecord(headers) || !isOneOf(HTTP_ACKS, ack)) return null;
  if (signature !== null && !isTextRecord(signature)) return null;
  const secret = signature?.secret;
  return { type: 'http', url, method, headers, ack, signature: secret === undefined ? null : { secret } };
}

const isOneOf = <T extends string>(words: readonly T[], value: unknown): value is T =>
  words.includes(value as T);

function signatureProblems(signature: HttpExecutorSpec['signature']): FieldProblem[] {
  if (signature === null || SECRET_NAME.test(signature.secret)) return [];
  const fix = 'give the name of a secret, such as "ORDERS" for the variable AX_SECRET_ORDERS of the workers';
  return [{ field: 'executor.signature.secret', problem: 'is not the name of a secret', fix }];
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
