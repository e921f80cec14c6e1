/**
 * Named leases with one holder at a time. A lease that is not renewed ends by itself after `ttlMs`.
 * `owner` identifies one holder for one life of its process; two processes never share it.
 * All calls throw AxError `unavailable` when the store cannot be reached; the state is then unknown.
 */
export interface Lock {
  /**
   * Takes the lease if it is free, or prolongs it to `ttlMs` from now if `owner` holds it already. Of any number of concurrent
   * contenders exactly one gets it.
   */
  acquire(name: string, owner: string, ttlMs: number): Promise<LockAnswer>;
  /** Prolongs the lease only if `owner` holds it; false when it was lost, and then another's lease is untouched. */
  renew(name: string, owner: string, ttlMs: number): Promise<boolean>;
  /** Who holds the lease now; null: nobody. Changes nothing. */
  holder(name: string): Promise<string | null>;
  /** Ends the lease only if `owner` holds it; false when it was not held. Idempotent. */
  release(name: string, owner: string): Promise<boolean>;
}

export interface LockAnswer {
  readonly isHeld: boolean;
  /** Who holds the lease after the call. */
  readonly holder: string;
  /** When it ends unless renewed, in ms from now. */
  readonly expiresInMs: number;
}
