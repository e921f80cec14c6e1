import { type Clock } from '../../src/ports/clock.js';
import { sleepOn } from './sleep-on.js';
import { type VirtualTime } from './virtual-time.js';

/** Time as one machine sees it: off by a little, running a little fast or slow, and standing still for a stopped process. */
export class NodeClock implements Clock {
  /** Whether the process is stopped. */
  isPaused = false;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly time: VirtualTime,
    /** Off the true time. */
    private offsetMs: number,
    /** Parts per million that it runs fast. */
    private readonly driftPpm: number,
  ) {}

  now(): number {
    return Math.floor(this.time.now() + this.offsetMs + (this.time.monotonicMs() * this.driftPpm) / 1e6);
  }

  monotonicMs(): number {
    return this.time.monotonicMs() * this.rate;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  schedule(ms: number, callback: () => void): () => void {
    let isCancelled = false;
    const cancelTimer = this.time.schedule(ms / this.rate, () =>
      this.whenAwake(() => {
        if (!isCancelled) callback();
      }),
    );
    return () => {
      isCancelled = true;
      cancelTimer();
    };
  }

  /** The wall clock jumps, as after a correction. */
  step(byMs: number): void {
    this.offsetMs += byMs;
  }

  /** From now on nothing happens in the process, as after SIGSTOP; the world goes on. */
  pause(): void {
    this.isPaused = true;
  }

  /** As after SIGCONT: all that was due meanwhile happens now, in order. */
  resume(): void {
    this.isPaused = false;
    for (const callback of this.waiting.splice(0)) callback();
  }

  whenAwake(callback: () => void): void {
    if (this.isPaused) this.waiting.push(callback);
    else callback();
  }

  /** Resolves at once unless the process is stopped. */
  async awake(): Promise<void> {
    while (this.isPaused) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private get rate(): number {
    return 1 + this.driftPpm / 1e6;
  }
}
