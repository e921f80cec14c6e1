import { type Registry } from './registry.js';

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

/** Which workers live. */
export type WorkerRegistry = Registry<WorkerAnnouncement>;
