import { type Clock } from '../../src/ports/clock.js';
import { sleepOn } from './sleep-on.js';

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  /** Null once it fired or was cancelled. */
  callback: (() => void) | null;
}

/**
 * The one true time of a simulation: whole milliseconds that pass only when nothing is left to do in the present one. Timers of one
 * instant fire in order of creation, so a run is the same every time.
 */
export class VirtualTime implements Clock {
  private elapsed = 0;
  private orders = 0;
  /** A binary heap by due time and order. */
  private readonly heap: Timer[] = [];

  constructor(private readonly startAt: number) {}

  now(): number {
    return this.startAt + this.elapsed;
  }

  monotonicMs(): number {
    return this.elapsed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  schedule(ms: number, callback: () => void): () => void {
    const dueAt = this.elapsed + Math.max(0, Math.ceil(ms));
    const timer: Timer = { dueAt, order: (this.orders += 1), callback };
    this.push(timer);
    return () => (timer.callback = null);
  }

  /** Timers that would still fire. */
  get pending(): number {
    return this.heap.filter(({ callback }) => callback !== null).length;
  }

  /** Lets `ms` pass, with all that happens in them. */
  async pass(ms: number): Promise<void> {
    const until = this.elapsed + ms;
    await quiet();
    for (let first = this.heap[0]; first !== undefined && first.dueAt <= until; first = this.heap[0]) {
      this.elapsed = Math.max(this.elapsed, first.dueAt);
      if (this.fireAll(first.dueAt)) await quiet();
    }
    this.elapsed = until;
  }

  /** Fires the timers of one instant that are there now; whether there was any. */
  private fireAll(dueAt: number): boolean {
    const newest = this.orders;
    let hasFired = false;
    for (let timer = this.heap[0]; timer?.dueAt === dueAt && timer.order <= newest; timer = this.heap[0]) {
      this.pop();
      if (timer.callback === null) continue;
      hasFired = true;
      const { callback } = timer;
      timer.callback = null;
      callback();
    }
    return hasFired;
  }

  private push(timer: Timer): void {
    const { heap } = this;
    let i = heap.length;
    for (; i > 0; i = (i - 1) >> 1) {
      const parent = heap[(i - 1) >> 1] as Timer;
      if (isBefore(parent, timer)) break;
      heap[i] = parent;
    }
    heap[i] = timer;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop() as Timer;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child += 1;
      if (isBefore(last, heap[child] as Timer)) break;
      heap[i] = heap[child] as Timer;
      i = child;
    }
    heap[i] = last;
  }
}

const isBefore = (a: Timer, b: Timer): boolean =>
  a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order);

/**
 * All promise chains have run out: nothing in a simulation waits for anything but them and virtual time. Node calls what was given to
 * `nextTick` by a promise's callback when no such callback is left, without a turn of the event loop, which would cost more than all else.
 */
const quiet = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
