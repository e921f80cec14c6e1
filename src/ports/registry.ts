/**
 * Who lives, as they announce themselves; nothing is decided here that must be exact. All calls throw AxError `unavailable` when the store
 * cannot be reached; repeating one is safe.
 */
export interface Registry<A extends { readonly instance: string }> {
  /** Holds for `ttlMs` from now on, by the store's clock, and replaces what this instance said before. */
  announce(announcement: A, ttlMs: number): Promise<void>;
  /** The instance is gone at once; without effect if it was. */
  withdraw(instance: string): Promise<void>;
  /** All whose announcement holds, in the order of their instances. What cannot be read is left out. */
  list(): Promise<A[]>;
}
