import { type ConsumeMessage } from 'amqplib';
import { type Receipt } from '../../../ports/receipts.js';

/** A receipt as a consumer wrote it. */
export interface ReceiptMessage {
  readonly executionId: string;
  readonly token: string;
  readonly receipt: Omit<Receipt, 'at'>;
}

const KINDS: readonly unknown[] = ['success', 'fail', 'progress'] satisfies Receipt['kind'][];
const MAX_MESSAGE = 1000;
const MAX_BYTES = 65_536;
const EXECUTION_ID = /^[A-Za-z0-9-]{1,64}$/;
const TOKEN = /^[\x21-\x7e]{1,256}$/;

/** What a message of the reply queue says, or what is wrong with it, in words that repeat nothing secret. */
export function receiptOf({
  content,
  properties,
}: Pick<ConsumeMessage, 'content' | 'properties'>): ReceiptMessage | string {
  if (content.length > MAX_BYTES) return `has ${content.length} bytes, at most ${MAX_BYTES} are taken`;
  const body = parsed(content);
  if (body === null) return 'is no JSON object in UTF-8';
  const executionId = body['execution_id'] ?? (properties.correlationId as unknown);
  if (!isText(EXECUTION_ID, executionId))
    return 'names no execution: set correlation_id, or execution_id in the body';
  const token: unknown = properties.headers?.['x-ax-receipt-token'] ?? body['token'];
  if (!isText(TOKEN, token)) return 'has no token: set the header x-ax-receipt-token, or token in the body';
  const { status, message } = body;
  if (!isKind(status)) return 'has no status success, fail or progress';
  return { executionId, token, receipt: { kind: status, message: oneLine(message) } };
}

const isText = (form: RegExp, value: unknown): value is string =>
  typeof value === 'string' && form.test(value);
const isKind = (value: unknown): value is Receipt['kind'] => KINDS.includes(value);

function parsed(content: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Nobody could tell the sender that its message is too long or has several lines, so it is made to fit. */
function oneLine(message: unknown): string | null {
  if (message === undefined || message === null) return null;
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const line = text
    .slice(0, MAX_MESSAGE)
    .replaceAll(/[\r\n\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, '?')
    .trim();
  return line === '' ? null : line;
}
