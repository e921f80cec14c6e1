import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock } from '../../src/ports/clock.js';

export interface ClockHarness {
  readonly clock: Clock;
  /** Lets this much time pass by the clock. */
  pass(ms: number): Promise<void>;
  close(): void;
}

const DAY_MS = 86_400_000;

export function clockSuite(name: string, factory: () => ClockHarness): void {
  describe(`${name} as a Clock`, () => {
    let harness: ClockHarness;
    let clock: Clock;

    beforeEach(() => {
      harness = factory();
      clock = harness.clock;
    });
    afterEach(() => harness.close());

    it('tells the instant in epoch ms, and time passes', async () => {
      const [now, monotonic] = [clock.now(), clock.monotonicMs()];
      expect(now).toBeGreaterThan(Date.UTC(2020, 0, 1));
      await harness.pass(250);
      expect(clock.now() - now).toBeGreaterThanOrEqual(250);
      expect(clock.monotonicMs() - monotonic).toBeGreaterThanOrEqual(250);
    });

    it('never steps back on its monotonic side', async () => {
      let last = clock.monotonicMs();
      for (let n = 0; n < 1000; n += 1) {
        if (n % 250 === 0) await harness.pass(1);
        const next = clock.monotonicMs();
        expect(next).toBeGreaterThanOrEqual(last);
        last = next;
      }
    });

    it('wakes sleepers in the order of their time, equals in the order of their call', async () => {
      const woken: string[] = [];
      const sleep = (ms: number, who: string) => void clock.sleep(ms).then(() => woken.push(who));
      sleep(300, 'd');
      sleep(100, 'a');
      sleep(200, 'b');
      sleep(200, 'c');
      await harness.pass(99);
      expect(woken).toEqual([]);
      await harness.pass(1);
      expect(woken).toEqual(['a']);
      await harness.pass(300);
      expect(woken).toEqual(['a', 'b', 'c', 'd']);
    });

    it('ends a sleep of no length without waiting', async () => {
      const sleeping = clock.sleep(0);
      await harness.pass(1);
      await sleeping;
    });

    it('sleeps 50 days, beyond the 32-bit timer limit (SO-13, SO-31)', async () => {
      let isAwake = false;
      void clock.sleep(50 * DAY_MS).then(() => (isAwake = true));
      await harness.pass(50 * DAY_MS - 1);
      expect(isAwake).toBe(false);
      await harness.pass(1);
      expect(isAwake).toBe(true);
    });

    it('ends a sleep at once on an abort, and does not begin one after it', async () => {
      const controller = new AbortController();
      const sleeping = clock.sleep(50 * DAY_MS, controller.signal);
      await harness.pass(40 * DAY_MS);
      controller.abort();
      await sleeping;
      await clock.sleep(50 * DAY_MS, controller.signal);
    });

    it('leaves no listener on a signal, neither after a full sleep nor after an abort', async () => {
      const controller = new AbortController();
      for (let n = 0; n < 1000; n += 1) {
        const sleeping = clock.sleep(1, controller.signal);
        await harness.pass(1);
        await sleeping;
      }
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
      const aborted = clock.sleep(1000, controller.signal);
      controller.abort();
      await aborted;
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    });

    it('calls back once when due, also after more than 50 days', async () => {
      const calls: string[] = [];
      clock.schedule(50 * DAY_MS, () => calls.push('late'));
      clock.schedule(20, () => calls.push('soon'));
      await harness.pass(19);
      expect(calls).toEqual([]);
      await harness.pass(1);
      expect(calls).toEqual(['soon']);
      await harness.pass(50 * DAY_MS);
      expect(calls).toEqual(['soon', 'late']);
    });

    it('does not call back after it was cancelled; cancelling again or too late does no harm', async () => {
      const calls: string[] = [];
      const cancelShort = clock.schedule(10, () => calls.push('short'));
      const cancelLong = clock.schedule(50 * DAY_MS, () => calls.push('long'));
      const cancelLate = clock.schedule(5, () => calls.push('fired'));
      cancelShort();
      cancelShort();
      await harness.pass(30 * DAY_MS);
      cancelLong();
      cancelLate();
      await harness.pass(30 * DAY_MS);
      expect(calls).toEqual(['fired']);
    });
  });
}
