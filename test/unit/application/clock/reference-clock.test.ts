import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ClockReading, ReferenceClock } from '../../../../src/application/clock/reference-clock.js';
import { FakeClock } from '../../../support/fake-clock.js';

const SECOND = 1000;
const HOUR = 3_600_000;

describe('ReferenceClock', () => {
  let machine: FakeClock;
  let clock: ReferenceClock;
  beforeEach(() => {
    machine = new FakeClock();
    clock = new ReferenceClock(machine);
  });

  /** A reading of a reference that is `offMs` ahead of this clock. */
  const reading = (offMs: number, errorMs = 0): ClockReading => ({
    referenceMs: clock.now() + offMs,
    wallMs: machine.now(),
    monotonicMs: machine.monotonicMs(),
    errorMs,
  });

  it('shows the wall clock until it knows better', async () => {
    expect(clock.now()).toBe(machine.now());
    machine.set(machine.now() + 10 * SECOND);
    await machine.advance(5);
    expect(clock.now()).toBe(machine.now());
  });

  it.each([10, -10, 86_400])('takes the first reading over at once, %i s away', async (seconds) => {
    const truth = machine.now() + seconds * SECOND;
    expect(clock.follow(reading(seconds * SECOND))).toEqual({ kind: 'start', byMs: seconds * SECOND });
    expect(clock.now()).toBe(truth);
    await machine.advance(HOUR);
    expect(clock.now()).toBe(truth + HOUR);
  });

  it.each([10, -10, -1_000_000])('does not see a wall clock that is set by %i s', async (seconds) => {
    clock.follow(reading(0));
    const truth = clock.now();
    await machine.advance(SECOND);
    machine.set(machine.now() + seconds * SECOND);
    expect(clock.now()).toBe(truth + SECOND);
    expect(clock.follow(reading(0))).toEqual({ kind: 'slew', byMs: 0 });
    await machine.advance(SECOND);
    expect(clock.now()).toBe(truth + 2 * SECOND);
  });

  it.each([300, -300])('slews a difference of %i ms by 10 ms a second, and no further', async (byMs) => {
    clock.follow(reading(0));
    const from = clock.now();
    clock.follow(reading(byMs));
    await machine.advance(10 * SECOND);
    expect(clock.now() - from - 10 * SECOND).toBe(Math.sign(byMs) * 100);
    await machine.advance(20 * SECOND);
    expect(clock.now() - from - 30 * SECOND).toBe(byMs);
    await machine.advance(HOUR);
    expect(clock.now() - from - 30 * SECOND - HOUR).toBe(byMs);
  });

  it('leaves alone what lies within the error of a reading, and takes of more what lies outside', async () => {
    clock.follow(reading(0));
    const from = clock.now();
    clock.follow(reading(40, 50));
    await machine.advance(60 * SECOND);
    expect(clock.now() - from).toBe(60 * SECOND);
    clock.follow(reading(-80, 50));
    await machine.advance(60 * SECOND);
    expect(clock.now() - from).toBe(120 * SECOND - 30);
  });

  describe('when the reference is set or replaced by another', () => {
    it.each([30, -30])('neither fires early nor waits: %i s are slewed, too', async (seconds) => {
      clock.follow(reading(0));
      const from = clock.now();
      machine.set(machine.now() + 5 * SECOND); // The machine's own clock is no witness then.
      let passed = 0;
      for (; passed < 60; passed += 10) {
        const referenceMs = from + (passed + seconds) * SECOND;
        const { kind } = clock.follow({ ...reading(0), referenceMs });
        expect(kind).toBe('slew');
        await machine.advance(10 * SECOND);
      }
      expect(clock.now() - from - passed * SECOND).toBe(Math.sign(seconds) * passed * 10);
    });

    it('is on its time in the end, and goes back to the old one likewise', async () => {
      clock.follow(reading(0));
      const from = clock.now();
      clock.follow(reading(30 * SECOND));
      await machine.advance(3000 * SECOND);
      expect(clock.now() - from - 3000 * SECOND).toBe(30 * SECOND);
      machine.set(machine.now() - HOUR);
      expect(clock.follow(reading(-30 * SECOND)).kind).toBe('slew');
      await machine.advance(3000 * SECOND);
      expect(clock.now() - from).toBe(6000 * SECOND);
    });

    it.each([30, -30])(
      'steps by %i s at once when the wall clock has shown that time all along',
      (seconds) => {
        const truth = machine.now();
        clock.follow(reading(-seconds * SECOND));
        expect(clock.now()).toBe(truth - seconds * SECOND);
        expect(clock.follow(reading(seconds * SECOND))).toEqual({ kind: 'step', byMs: seconds * SECOND });
        expect(clock.now()).toBe(truth);
      },
    );
  });

  it('steps by what a suspended machine has missed, though its wall clock is 10 s off', async () => {
    clock.follow(reading(10 * SECOND));
    await machine.advance(10 * SECOND);
    const beforeSleep = clock.now();
    machine.set(machine.now() + HOUR); // The monotonic clock stood still.
    expect(clock.now()).toBe(beforeSleep);
    expect(clock.follow(reading(HOUR)).kind).toBe('step');
    expect(clock.now()).toBe(beforeSleep + HOUR);
  });

  it('never goes back between steps, whatever the readings say', async () => {
    const readings = fc.array(
      fc.record({
        afterMs: fc.integer({ min: 0, max: 30_000 }),
        offMs: fc.integer({ min: -100_000, max: 100_000 }),
        wallOffMs: fc.integer({ min: -100_000, max: 100_000 }),
        errorMs: fc.integer({ min: 0, max: 500 }),
      }),
      { maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(readings, async (list) => {
        const own = new FakeClock();
        const tested = new ReferenceClock(own);
        let last = -Infinity;
        for (const { afterMs, offMs, wallOffMs, errorMs } of list) {
          const start = tested.now();
          await own.advance(afterMs);
          const passed = tested.now() - start;
          expect(Math.abs(passed - afterMs)).toBeLessThanOrEqual(afterMs * 0.01 + 1);
          own.set(own.now() + wallOffMs);
          const now = tested.now();
          const { kind } = tested.follow({
            referenceMs: now + offMs,
            wallMs: own.now(),
            monotonicMs: own.monotonicMs(),
            errorMs,
          });
          if (kind === 'slew') expect(tested.now()).toBe(now);
          if (last !== -Infinity) expect(now).toBeGreaterThanOrEqual(last);
          last = tested.now();
        }
      }),
      { numRuns: 50 },
    );
  });
});
