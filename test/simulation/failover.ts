import { InProcessArrivals } from '../../src/adapters/embedded/in-process-arrivals.js';
import { type InProcessState } from '../../src/adapters/embedded/in-process-state.js';
import { type InProcessReceipts } from '../../src/adapters/embedded/in-process-receipts.js';
import { VirtualTime } from './virtual-time.js';

/**
 * Remembers what a broker knows now. The function it returns brings that back, under another epoch: as when a replica is promoted that
 * lacks the last writes. Handles that were given out since are not given out again.
 */
export function replicaOf(state: InProcessState, receipts: InProcessReceipts): (epoch: string) => void {
  const replica = copyOf(state);
  const receiptsReplica = copyOf(receipts);
  return (epoch) => {
    const orders: unknown = Reflect.get(state, 'orders');
    Object.assign(state, replica, { epoch, orders });
    Object.assign(receipts, receiptsReplica);
    state.messageArrivals.announce();
    state.reportArrivals.announce();
  };
}

/** A deep copy, apart from the clock and from those who wait or listen. */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof VirtualTime || value instanceof InProcessArrivals) return value;
  if (value instanceof Set) return new Set(value) as T;
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, copyOf(member)])) as T;
  const copy = Array.isArray(value) ? [] : (Object.create(Object.getPrototypeOf(value) as object) as object);
  for (const [name, member] of Object.entries(value))
    Reflect.set(copy, name, name === 'listeners' ? member : copyOf<unknown>(member));
  return copy as T;
}
