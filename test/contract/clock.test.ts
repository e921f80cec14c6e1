import { vi } from 'vitest';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { ReferenceClock } from '../../src/application/clock/reference-clock.js';
import { FakeClock } from '../support/fake-clock.js';
import { FakeTimeReference } from '../support/fake-time-reference.js';
import { clockSuite } from './clock.suite.js';
import { timeReferenceSuite } from './time-reference.suite.js';

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

/** Ten seconds behind its reference, and on the way to a reading that is half a second ahead of that. */
clockSuite('ReferenceClock', () => {
  const machine = new FakeClock();
  const clock = new ReferenceClock(machine);
  const reading = { wallMs: machine.now(), monotonicMs: 0, errorMs: 0 };
  clock.follow({ ...reading, referenceMs: machine.now() + 10_000 });
  clock.follow({ ...reading, referenceMs: machine.now() + 10_500 });
  return { clock, pass: (ms) => machine.advance(ms), close: () => {} };
});

timeReferenceSuite('FakeTimeReference', async () => {
  const machine = new FakeClock();
  const reference = new FakeTimeReference(machine);
  return {
    nodes: [reference, reference],
    direct: async () => reference.time,
    advance: (ms) => machine.advance(ms),
    outage: { begin: () => void (reference.isAway = true), end: () => void (reference.isAway = false) },
    close: async () => {},
  };
});
