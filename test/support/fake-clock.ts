import { type Clock } from '../../src/ports/clock.js';

interface Timer {
  readonly dueAt: number;
  readonly fire: () => void;
}

/** A clock that moves only when told to. Timers fire in order of their due time, equal ones in order of creation. */
export class FakeClock implements Clock {
  private wall: number;
  private monotonic = 0;
  /** In order of creation. */
  private readonly timers = new Set<Timer>();

  /** `isBusy`: something is under way that timers have started and that ends by itself, such as a query; time stands still for it. */
  constructor(
    startAt: number = Date.UTC(2026, 0, 5),
    private readonly isBusy: () => boolean = () => false,
  ) {
    this.wall = startAt;
  }

  now(): number {
    return this.wall;
  }

  monotonicMs(): number {
    return this.monotonic;
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
    const timer: Timer = {
      dueAt: this.monotonic + Math.max(0, ms),
      fire: () => {
        this.timers.delete(timer);
        callback();
      },
    };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  /** Timers that have not fired; afterwards tests assert that none is left. */
  get pendingTimers(): number {
    return this.timers.size;
  }

  /** Steps the wall clock, as an operator or NTP would; no timer moves. */
  set(now: number): void {
    this.wall = now;
  }

  /** Moves both clocks; what a timer starts has settled before the next one fires, and may set timers of its own. */
  async advance(ms: number): Promise<void> {
    const target = this.monotonic + ms;
    await this.settle();
    for (let timer = this.earliest(target); timer !== null; timer = this.earliest(target)) {
      this.moveTo(Math.max(timer.dueAt, this.monotonic));
      timer.fire();
      await this.settle();
    }
    this.moveTo(target);
    await this.settle();
  }

  private earliest(target: number): Timer | null {
    let found: Timer | null = null;
    for (const timer of this.timers) {
      if (timer.dueAt <= target && (found === null || timer.dueAt < found.dueAt)) found = timer;
    }
    return found;
  }

  private moveTo(monotonic: number): void {
    this.wall += monotonic - this.monotonic;
    this.monotonic = monotonic;
  }

  /** Lets promise chains run out, also those that span a few turns of the event loop. */
  private async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.isBusy() ? 0 : quiet + 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
