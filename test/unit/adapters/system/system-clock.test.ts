import { describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../../src/adapters/system/system-clock.js';

describe('SystemClock on real time', () => {
  const clock = new SystemClock();

  it('agrees with the machine', () => {
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
  });

  it('sleeps for at least the time, and a long sleep does not return at once', async () => {
    const startedAt = clock.monotonicMs();
    const controller = new AbortController();
    let hasLongEnded = false;
    const long = clock.sleep(2 ** 31 + 1000, controller.signal).then(() => (hasLongEnded = true));
    await clock.sleep(50);
    expect(clock.monotonicMs() - startedAt).toBeGreaterThanOrEqual(50);
    expect(hasLongEnded).toBe(false);
    controller.abort();
    await long;
  });
});

describe('SystemClock on a timer', () => {
  it('wakes nobody early when a timer of the machine is', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(0);
    const fired = vi.fn();
    try {
      new SystemClock().schedule(20, fired);
      monotonic.mockReturnValue(19.4);
      vi.advanceTimersByTime(20);
      expect(fired).not.toHaveBeenCalled();
      monotonic.mockReturnValue(20.4);
      vi.advanceTimersByTime(1);
      expect(fired).toHaveBeenCalledOnce();
    } finally {
      monotonic.mockRestore();
      vi.useRealTimers();
    }
  });
});
