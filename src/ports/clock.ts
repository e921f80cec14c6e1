/** Time as the use cases see it. Durations and leases are measured with `monotonicMs`, never with `now`. */
export interface Clock {
  /** Epoch ms, corrected to the shared reference where there is one. May step. */
  now(): number;
  /** Milliseconds since an arbitrary origin; never steps back. */
  monotonicMs(): number;
  /**
   * Resolves after `ms` (any finite length, also beyond the 32-bit timer limit), or at once when `signal` aborts. Never rejects.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms` unless the returned function is called first. */
  schedule(ms: number, callback: () => void): () => void;
}
