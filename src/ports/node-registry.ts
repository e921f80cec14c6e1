import { type Registry } from './registry.js';

/** What a process says of itself, whatever its role. */
export interface NodeAnnouncement {
  /** Identifies one process in one life. */
  readonly instance: string;
  readonly node: string;
  /** `all`, `coordinator` or `worker`. */
  readonly role: string;
  readonly version: string;
  /** Version of its time zone data. */
  readonly zoneData: string;
  /** Time reference − its machine's wall clock, ms; null: it has no reference. */
  readonly clockOffsetMs: number | null;
}

/** Which processes live. */
export type NodeRegistry = Registry<NodeAnnouncement>;
