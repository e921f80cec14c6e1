import { beforeEach, describe, expect, it } from 'vitest';
import { WakeableSleep } from '../../../src/application/wakeable-sleep.js';
import { type Wakeup } from '../../../src/ports/wakeup.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('WakeableSleep', () => {
  let clock: FakeClock;
  let stop: AbortController;
  let listeners: Set<() => void>;
  let sleeper: WakeableSleep;
  beforeEach(() => {
    clock = new FakeClock();
    stop = new AbortController();
    listeners = new Set();
    const wakeup: Wakeup = {
      notify: async () => listeners.forEach((listener) => listener()),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    sleeper = new WakeableSleep(clock, wakeup);
  });

  /** Whether a sleep of that length has ended. */
  const sleeping = (ms: number) => {
    const state = { isOver: false };
    void sleeper.sleep(ms, stop.signal).then(() => (state.isOver = true));
    return state;
  };
  const notify = () => listeners.forEach((listener) => listener());

  it('lasts as long as it was told to', async () => {
    const sleep = sleeping(1000);
    await clock.advance(999);
    expect(sleep.isOver).toBe(false);
    await clock.advance(1);
    expect(sleep.isOver).toBe(true);
  });

  it.each([0, -5])('of %i ms is none', async (ms) => {
    const sleep = sleeping(ms);
    await clock.advance(0);
    expect(sleep.isOver).toBe(true);
  });

  it('ends on a wake-up, which is used up by that', async () => {
    const first = sleeping(1000);
    await clock.advance(100);
    notify();
    await clock.advance(0);
    expect(first.isOver).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    const second = sleeping(1000);
    await clock.advance(999);
    expect(second.isOver).toBe(false);
    await clock.advance(1);
    expect(second.isOver).toBe(true);
  });

  it('returns at once when it was woken between two sleeps, and only once', async () => {
    notify();
    notify();
    const first = sleeping(1000);
    await clock.advance(0);
    expect(first.isOver).toBe(true);
    const second = sleeping(1000);
    await clock.advance(0);
    expect(second.isOver).toBe(false);
    await clock.advance(1000);
  });

  it('ends when it is stopped, and never begins afterwards', async () => {
    const first = sleeping(1000);
    stop.abort();
    await clock.advance(0);
    expect(first.isOver).toBe(true);
    const second = sleeping(1000);
    await clock.advance(0);
    expect(second.isOver).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves no listener behind, on the signal or on the wake-ups', async () => {
    let onSignal = 0;
    const { signal } = stop;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      onSignal += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      onSignal -= 1;
      remove(...args);
    };
    for (let i = 0; i < 20; i++) {
      const sleep = sleeping(10);
      if (i % 2 === 0) notify();
      await clock.advance(10);
      expect(sleep.isOver).toBe(true);
    }
    expect(onSignal).toBe(0);
    expect(listeners.size).toBe(1);
    sleeper.close();
    expect(listeners.size).toBe(0);
  });
});
