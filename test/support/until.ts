import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `condition` gives something other than false, null or undefined, and returns that; fails with `what` at the deadline. */
export async function until<T>(
  what: string | (() => string),
  condition: () => T | Promise<T>,
  timeoutMs = 15_000,
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<T, false | null | undefined>;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain: ${typeof what === 'string' ? what : what()}`);
    }
    await delay(20);
  }
}
