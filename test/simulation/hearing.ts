import { type Receipts } from '../../src/ports/receipts.js';
import { type Stops } from '../../src/ports/stops.js';
import { type NodeClock } from './node-clock.js';

/** Of the queue's life in which a worker starts; in a later one it learns of stops by its heartbeats. A stopped process hears when it goes on. */
export const hearingStops = (
  stops: Stops,
  clock: NodeClock,
  subscriptions: (() => void)[],
): Pick<Stops, 'subscribe'> => ({
  subscribe: (listener) => {
    const unsubscribe = stops.subscribe((id, reason) => clock.whenAwake(() => listener(id, reason)));
    subscriptions.push(unsubscribe);
    return unsubscribe;
  },
});

/** Receipts, which a stopped process hears of when it goes on. */
export const hearingReceipts = (
  receipts: Receipts,
  clock: NodeClock,
  subscriptions: (() => void)[],
): Receipts => ({
  open: (wait) => receipts.open(wait),
  read: (ids) => receipts.read(ids),
  close: (id, keepMs) => receipts.close(id, keepMs),
  post: (...args) => receipts.post(...args),
  subscribe: (listener) => {
    const unsubscribe = receipts.subscribe((id) => clock.whenAwake(() => listener(id)));
    subscriptions.push(unsubscribe);
    return unsubscribe;
  },
});
