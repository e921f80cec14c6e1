import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../../../src/adapters/system/system-clock.js';

describe('SystemClock on real time', () => {
  const clock = new SystemClock();

  it('agrees with the machine', () => {
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
  });

  it('sleeps for at least about the time, and a long sleep does not return at once', async () => {
    const startedAt = clock.monotonicMs();
    const controller = new AbortController();
    let hasLongEnded = false;
    const long = clock.sleep(2 ** 31 + 1000, controller.signal).then(() => (hasLongEnded = true));
    await clock.sleep(50);
    expect(clock.monotonicMs() - startedAt).toBeGreaterThan(45);
    expect(hasLongEnded).toBe(false);
    controller.abort();
    await long;
  });
});
