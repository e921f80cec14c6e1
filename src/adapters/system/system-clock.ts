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

  schedule(ms: number, callback: () => void): () => void {
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number) => {
      timer =
        leftMs > MAX_TIMER_MS
          ? setTimeout(() => arm(leftMs - MAX_TIMER_MS), MAX_TIMER_MS)
          : setTimeout(callback, leftMs);
    };
    arm(ms);
    return () => clearTimeout(timer);
  }
}
