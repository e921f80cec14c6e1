import { type Clock } from '../../ports/clock.js';

/** A longer setTimeout fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clocks and timers; timers keep the process alive until they fire or are cancelled. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.schedule(ms, end);
      signal?.addEventListener('abort', end, { once: true });
    });
  }

  /** Never early: a timer of Node may fire up to a millisecond before its time, so it is set again for the rest. */
  schedule(ms: number, callback: () => void): () => void {
    const due = this.monotonicMs() + ms;
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number) => {
      timer = setTimeout(fire, Math.min(Math.ceil(leftMs), MAX_TIMER_MS));
    };
    const fire = () => {
      const leftMs = due - this.monotonicMs();
      if (leftMs > 0) arm(leftMs);
      else callback();
    };
    arm(ms);
    return () => clearTimeout(timer);
  }
}
