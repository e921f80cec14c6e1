import { randomFillSync } from 'node:crypto';
import { type Tracer } from '../../ports/tracer.js';

/** Version, trace id, parent id, flags; later versions may append fields (W3C Trace Context, §3.2 and §4.3). */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const SAMPLED = '01';

/** Makes trace contexts of version 00, always sampled; exports nothing. */
export class W3cTracer implements Tracer {
  start(parent: string | null): string {
    return spanIn((parent === null ? null : traceIn(parent)) ?? randomId(16));
  }

  child(parent: string): string {
    return spanIn(traceIn(parent) ?? randomId(16));
  }
}

const spanIn = (traceId: string): string => `00-${traceId}-${randomId(8)}-${SAMPLED}`;

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

/** The trace id of a valid traceparent, else null. */
function traceIn(traceparent: string): string | null {
  const [, version, traceId = '', parentId = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  return isAllZeros(traceId) || isAllZeros(parentId) ? null : traceId;
}

const isAllZeros = (hex: string): boolean => /^0+$/.test(hex);
