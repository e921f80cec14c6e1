import { hash, randomFillSync } from 'node:crypto';
import { isSampled, traceIdOf, type Tracer } from '../../ports/tracer.js';

/** Version, trace id, parent id, flags; later versions may append fields (W3C Trace Context, §3.2 and §4.3). */
const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:$|(?<!^00.*)-)/;
/** Of one that this file made. */
const LENGTH = 55;

/** Makes trace contexts of version 00; a trace that begins here is sampled, any other as it was. Exports nothing. */
export class W3cTracer implements Tracer {
  start(parent: string | null): string {
    return parent !== null && TRACEPARENT.test(parent) ? this.child(parent.slice(0, LENGTH)) : newContext();
  }

  child(parent: string, key?: string): string {
    if (!isContext(parent)) return newContext();
    const spanId = key === undefined ? randomId(8) : hash('sha256', key).slice(0, 16);
    return `00-${traceIdOf(parent)}-${spanId}-${isSampled(parent) ? '01' : '00'}`;
  }

  record(): void {}

  keep(): void {}

  forget(): void {}
}

/** Whether it has the form of what a tracer made, which is not looked at again: this is asked for each step of each run. */
export const isContext = (text: string): boolean =>
  text.length === LENGTH && text[2] === '-' && text[35] === '-' && text[52] === '-';

const newContext = (): string => `00-${randomId(16)}-${randomId(8)}-01`;

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
  return /[^0]/.test(id) ? id : randomId(bytes);
}
