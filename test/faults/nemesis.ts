import { setTimeout as pause } from 'node:timers/promises';
import { type Lane } from './lane.js';

/**
 * How the recovery from a fault at the instant `at` (epoch ms) is timed, always by what the callee saw:
 * - `next-slot`: the worst lateness among each task's first slot after it;
 * - `dispatch`: from it to the first call;
 * - `rerun`: from it to the last second call of a run that had been called before;
 * - `none`: nothing to recover from.
 */
export interface Measure {
  readonly kind: 'next-slot' | 'dispatch' | 'rerun' | 'none';
  readonly at: number;
}

/** One fault, made and mended again; resolves when all is as before. */
export interface Nemesis {
  /** Its row in the table. */
  readonly name: string;
  /** What it is made of, if that varies. */
  readonly title?: string;
  /** About how long it takes, so that slots fall due until after it. */
  readonly seconds: number;
  /** What recovery may take, ms; null where nothing was promised. */
  readonly bound: number | null;
  strike(lane: Lane): Promise<Measure>;
}

export const seconds = (count: number): Promise<void> => pause(count * 1000);
