import { setTimeout as delay } from 'node:timers/promises';
import { type Clock } from '../../../ports/clock.js';

export type EndSignal = 'SIGTERM' | 'SIGKILL';

/** All that an attempt has running in one place. */
export interface Running {
  readonly pollMs: number;
  /** Sends the signal to all that runs, or to none, and names who ran. */
  signal(signal: EndSignal | null): Promise<readonly string[]>;
}

/** What became of it, each by its name. */
export interface Ending {
  /** Whoever ran when the ending began. */
  readonly found: readonly string[];
  /** Those who ran on after the grace. */
  readonly killed: readonly string[];
  /** Those who run on. */
  readonly left: readonly string[];
}

/** A killed process that waits for a disk or a network file system may take its time. */
const SETTLE_MS = 5000;

/**
 * TERM to all; whoever runs on after `graceMs` gets KILL, again and again, as killed ones may have started others; and then a look
 * whether anybody is left. Ends as soon as nobody is. A KILL that has no effect within five seconds is given up.
 */
export async function endRunning(
  running: Running,
  { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
): Promise<Ending> {
  const found = await running.signal('SIGTERM');
  if (found.length === 0) return { found, killed: [], left: [] };
  const killed = new Set<string>();
  let hasGrace = graceMs > 0;
  const cancelGrace = clock.schedule(graceMs, () => (hasGrace = false));
  let givenUpAt = Infinity;
  let left = found;
  try {
    while (left.length > 0 && performance.now() < givenUpAt) {
      await delay(running.pollMs);
      const signal = hasGrace ? null : 'SIGKILL';
      left = await running.signal(signal);
      if (signal === null) continue;
      for (const name of left) killed.add(name);
      givenUpAt = Math.min(givenUpAt, performance.now() + SETTLE_MS);
    }
  } finally {
    cancelGrace();
  }
  return { found, killed: [...killed], left };
}
