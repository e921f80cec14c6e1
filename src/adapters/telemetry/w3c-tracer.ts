import { createHash, randomFillSync } from 'node:crypto';
import { type Tracer } from '../../ports/tracer.js';

/** Version, trace id, parent id, flags; later versions may append fields (W3C Trace Context, §3.2 and §4.3). */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** What a valid traceparent says. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Makes trace contexts of version 00; a trace that begins here is sampled, any other as it was. Exports nothing. */
export class W3cTracer implements Tracer {
  start(parent: string | null): string {
    return this.child(parent ?? '');
  }

  child(parent: string, key?: string): string {
    const context = parseTraceparent(parent);
    return traceparentOf({
      traceId: context?.traceId ?? randomId(16),
      spanId: key === undefined ? randomId(8) : idFor(key),
      isSampled: context?.isSampled ?? true,
    });
  }

  record(): void {}

  keep(): void {}

  forget(): void {}
}

export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** Null if it is broken. */
export function parseTraceparent(traceparent: string): TraceContext | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (isAllZeros(traceId) || isAllZeros(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Random bytes are drawn in stock: single draws were 3 % of an execution's cost in the worker. */
const STOCK_BYTES = 4096;
const stock = { bytes: Buffer.alloc(STOCK_BYTES), used: STOCK_BYTES };

/** Lower-case hex, never all zeros. */
function randomId(bytes: number): string {
  if (stock.used + bytes > STOCK_BYTES) {
    randomFillSync(stock.bytes);
    stock.used = 0;
  }
  const id = stock.bytes.toString('hex', stock.used, (stock.used += bytes));
  return isAllZeros(id) ? randomId(bytes) : id;
}

const idFor = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

const isAllZeros = (hex: string): boolean => /^0+$/.test(hex);
