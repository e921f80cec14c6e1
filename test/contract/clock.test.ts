import { vi } from 'vitest';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { FakeClock } from '../support/fake-clock.js';
import { clockSuite } from './clock.suite.js';

// Its timers and clocks are Node's, played fast; they keep the 32-bit limit of the real setTimeout.
clockSuite('SystemClock', () => {
  vi.useFakeTimers();
  return {
    clock: new SystemClock(),
    pass: async (ms) => void (await vi.advanceTimersByTimeAsync(ms)),
    close: () => void vi.useRealTimers(),
  };
});

clockSuite('FakeClock', () => {
  const clock = new FakeClock();
  return { clock, pass: (ms) => clock.advance(ms), close: () => {} };
});
