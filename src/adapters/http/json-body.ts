import { type Request } from 'express';
import { type FieldProblem, messageOf } from '../../domain/errors.js';
import { HttpError } from './problem.js';

/** The largest body that is read. */
export const MAX_BODY_BYTES = 262_144;

/**
 * The JSON value of a request whose body was read as bytes; undefined if it has none. `otherType`: what the route takes beside JSON.
 * @throws HttpError `unsupported_media_type` unless the Content-Type is application/json in UTF-8; `invalid_input` if it is not
 * JSON, repeats a name in one object, or uses the name `__proto__`.
 */
export function jsonBody(request: Request, otherType?: string): unknown {
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return undefined;
  const contentType = request.get('content-type') ?? '';
  if (!isOfType(contentType, 'application/json')) throw refuseType(contentType, otherType);
  const text = decode(bytes);
  const value = parse(text);
  assertNames(text);
  return value;
}

/** The text of a request whose Content-Type is `type` in UTF-8; null if it is another one. @throws HttpError `invalid_input`. */
export function textBody(request: Request, type: string): string | null {
  const bytes: unknown = request.body;
  if (!isOfType(request.get('content-type') ?? '', type)) return null;
  return Buffer.isBuffer(bytes) ? decode(bytes) : '';
}

function isOfType(contentType: string, wanted: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  return type.trim() === wanted && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

function refuseType(contentType: string, otherType: string | undefined): HttpError {
  const problem = contentType === '' ? 'is missing' : `is ${JSON.stringify(contentType.slice(0, 100))}`;
  const other = otherType === undefined ? '' : `, or a file in UTF-8 as "${otherType}"`;
  const fix = `send JSON in UTF-8 as "application/json"${other}`;
  return new HttpError('unsupported_media_type', [{ field: 'Content-Type', problem, fix }]);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse([{ field: 'body', problem: 'is not UTF-8', fix: 'send it in UTF-8' }]);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const position = /position (\d+)/.exec(messageOf(error))?.[1];
    const place = position === undefined ? '' : ` at ${placeOf(text, Number(position))}`;
    const problem = `is not JSON${place} (${messageOf(error)})`;
    throw refuse([{ field: 'body', problem, fix: 'send one valid JSON object' }]);
  }
}

function placeOf(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g;

/** JSON.parse keeps the last of equal names and makes `__proto__` an own property; neither can be meant. `text` is valid JSON. */
function assertNames(text: string): void {
  const names: (Set<string> | null)[] = [];
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    if (token === '{') names.push(new Set());
    else if (token === '[') names.push(null);
    else if (string === undefined) names.pop();
    else if (colon !== undefined) assertName(JSON.parse(string) as string, names.at(-1));
  }
}

function assertName(name: string, siblings: Set<string> | null | undefined): void {
  const field = name.slice(0, 64);
  if (name === '__proto__') throw refuse([{ field, problem: 'is not a possible name', fix: 'leave it out' }]);
  if (siblings?.has(name) === true)
    throw refuse([{ field, problem: 'is given twice in one object', fix: 'give it once' }]);
  siblings?.add(name);
}

const refuse = (errors: readonly FieldProblem[]): HttpError => new HttpError('invalid_input', errors);
