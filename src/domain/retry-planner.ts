import { type Policy } from './policy.js';

export type RetryPolicy = Pick<
  Policy,
  'retryCount' | 'retryIntervalSec' | 'retryStrategy' | 'retryMaxIntervalSec' | 'hasRetryJitter'
>;

/**
 * The delay in ms before the next attempt, counted from the end of the failed one, or null when the retries are used up.
 * `failures` counts failed attempts so far (1 after the first). `random` gives numbers in [0, 1).
 * Full jitter as in "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function planRetryDelayMs(policy: RetryPolicy, failures: number, random: () => number): number | null {
  if (failures > policy.retryCount) return null;
  const baseMs = policy.retryIntervalSec * 1000;
  const plannedMs =
    policy.retryStrategy === 'fixed'
      ? baseMs
      : Math.min(baseMs * 2 ** (failures - 1), policy.retryMaxIntervalSec * 1000);
  return policy.hasRetryJitter ? Math.floor(random() * plannedMs) : plannedMs;
}
