import { type Clock } from '../../ports/clock.js';

/** Where takers wait until there is something to take. */
export class InProcessArrivals {
  private readonly waiting = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** Wakes everybody who waits. */
  announce(): void {
    for (const wake of [...this.waiting]) wake();
  }

  /** Until the next announcement, at most `ms`, or until `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.clock.schedule(ms, wake);
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  /** Repeats `look` until it finds something, `waitMs` have passed or `signal` aborts; `againInMs` bounds each wait. */
  async firstOf<T>(
    look: () => T[],
    againInMs: () => number,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<T[]> {
    const deadline = this.clock.monotonicMs() + waitMs;
    while (!signal.aborted) {
      const found = look();
      const left = deadline - this.clock.monotonicMs();
      if (found.length > 0 || left <= 0) return found;
      await this.wait(Math.min(left, againInMs()), signal);
    }
    return [];
  }
}
