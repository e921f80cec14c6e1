import { type Clock } from '../../src/ports/clock.js';

/** Time as one node sees it, until that node dies: then no timer of its own fires any more. */
export class MortalClock implements Clock {
  private isDead = false;
  private readonly pending = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  die(): void {
    this.isDead = true;
    for (const cancel of this.pending) cancel();
  }

  now(): number {
    return this.clock.now();
  }

  monotonicMs(): number {
    return this.clock.monotonicMs();
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
    if (this.isDead) return () => undefined;
    const cancelTimer = this.clock.schedule(ms, () => {
      this.pending.delete(cancel);
      callback();
    });
    const cancel = () => {
      this.pending.delete(cancel);
      cancelTimer();
    };
    this.pending.add(cancel);
    return cancel;
  }
}
