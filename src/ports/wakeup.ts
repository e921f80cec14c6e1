/** Tells the coordinators of one namespace that something changed: a task, the leadership. Best effort; every waiter also has a timeout. */
export interface Wakeup {
  /** Wakes every subscriber, also in other processes. Never throws. */
  notify(): Promise<void>;
  /** Calls `listener` on every wake-up until the returned function is called. */
  subscribe(listener: () => void): () => void;
}
