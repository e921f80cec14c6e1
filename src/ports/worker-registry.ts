/** What a worker says of itself. Words that this node does not know may come from a newer one. */
export interface WorkerAnnouncement {
  /** Identifies one worker in one life of its process. */
  readonly instance: string;
  readonly node: string;
  readonly pools: readonly string[];
  /** Types of executors that it runs. */
  readonly executors: readonly string[];
  /** Most runs at a time. */
  readonly concurrency: number;
  /** Runs in progress. */
  readonly running: number;
  /** It is about to end and takes nothing new. */
  readonly isDraining: boolean;
  readonly version: string;
  /** Version of the time zone data of its process; absent from an older ax. */
  readonly zoneData?: string;
  /** Epoch ms. */
  readonly startedAt: number;
  /** When it said this, epoch ms by its own clock. */
  readonly seenAt: number;
}

/**
 * Which workers live, as they announce themselves; nothing is decided here that must be exact. All calls throw AxError `unavailable` when
 * the store cannot be reached; repeating one is safe.
 */
export interface WorkerRegistry {
  /** Holds for `ttlMs` from now on, by the store's clock, and replaces what this instance said before. */
  announce(worker: WorkerAnnouncement, ttlMs: number): Promise<void>;
  /** The instance is gone at once; without effect if it was. */
  withdraw(instance: string): Promise<void>;
  /** All whose announcement holds, in the order of their instances. What cannot be read is left out. */
  list(): Promise<WorkerAnnouncement[]>;
}
