import { type Clock } from '../../ports/clock.js';
import { InProcessFifo } from './in-process-fifo.js';

interface Item<T> {
  readonly order: number;
  readonly value: T;
  readonly addedAt: number;
  /** Monotonic ms of the taker's last sign of life; null while nobody has it. */
  takenAt: number | null;
}

export interface LaneEntry<T> {
  readonly handle: string;
  readonly value: T;
}

/**
 * Items that are handed out at least once, each to one taker at a time, until they are removed. An item whose taker was silent for too
 * long is handed out again. A handle is used once: not by another lane of the same `life`, nor in another life.
 */
export class InProcessLane<T> {
  private readonly items = new Map<string, Item<T>>();
  /** Untaken items, oldest first; removed ones are skipped when they come up. */
  private readonly ready = new InProcessFifo<string>();
  /** Signs of life, oldest first; those that a later one has replaced are skipped when they come up. */
  private readonly signs = new InProcessFifo<{ readonly handle: string; readonly at: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly life: string,
    private readonly nextOrder: () => number,
  ) {}

  get size(): number {
    return this.items.size;
  }

  add(value: T): string {
    const order = this.nextOrder();
    const handle = `${this.life}/${order}`;
    this.items.set(handle, { order, value, addedAt: this.clock.monotonicMs(), takenAt: null });
    this.ready.push(handle);
    return handle;
  }

  has(handle: string): boolean {
    return this.items.has(handle);
  }

  remove(handle: string): void {
    this.items.delete(handle);
  }

  /** Tells that the taker of an item is alive. */
  touch(handle: string): void {
    const item = this.items.get(handle);
    if (item === undefined) return;
    item.takenAt = this.clock.monotonicMs();
    this.signs.push({ handle, at: item.takenAt });
    this.oldestSign();
  }

  /** Moves an item to the end, for others to take; its new handle, or the old one if it is gone. */
  putBack(handle: string): string {
    const item = this.items.get(handle);
    if (item === undefined) return handle;
    this.items.delete(handle);
    return this.add(item.value);
  }

  /** The next item, given to a taker: one that was left by its taker, else the oldest new one. */
  take(reclaimAfterMs: number): LaneEntry<T> | null {
    const handle = this.reclaimable(reclaimAfterMs) ?? this.oldestReady();
    const item = handle === null ? undefined : this.items.get(handle);
    if (handle === null || item === undefined) return null;
    this.touch(handle);
    return { handle, value: item.value };
  }

  /** Order of the item that `take` would give; Infinity if it would give none. */
  nextUp(reclaimAfterMs: number): number {
    const handle = this.reclaimable(reclaimAfterMs) ?? this.oldestReady();
    return (handle === null ? undefined : this.items.get(handle)?.order) ?? Infinity;
  }

  /** How long until an item that is taken now can be taken over; Infinity if none is taken. */
  reclaimInMs(reclaimAfterMs: number): number {
    const sign = this.oldestSign();
    return sign === null ? Infinity : Math.max(0, sign.at + reclaimAfterMs - this.clock.monotonicMs());
  }

  /** How many items nobody has, how many somebody, and how long the oldest of the former has been here. */
  backlog(): { readonly waiting: number; readonly taken: number; readonly oldestWaitMs: number } {
    const untaken = [...this.items.values()].filter(({ takenAt }) => takenAt === null);
    const now = this.clock.monotonicMs();
    const waiting = untaken.length;
    return { waiting, taken: this.items.size - waiting, oldestWaitMs: now - (untaken[0]?.addedAt ?? now) };
  }

  /** Age of the oldest item, 0 if there is none. */
  oldestAgeMs(): number {
    for (const { addedAt } of this.items.values()) return this.clock.monotonicMs() - addedAt;
    return 0;
  }

  private reclaimable(reclaimAfterMs: number): string | null {
    return this.reclaimInMs(reclaimAfterMs) === 0 ? (this.oldestSign()?.handle ?? null) : null;
  }

  private oldestSign(): { readonly handle: string; readonly at: number } | null {
    for (let sign = this.signs.peek(); sign !== undefined; sign = this.signs.peek()) {
      if (this.items.get(sign.handle)?.takenAt === sign.at) return sign;
      this.signs.shift();
    }
    return null;
  }

  private oldestReady(): string | null {
    for (let handle = this.ready.peek(); handle !== undefined; handle = this.ready.peek()) {
      const item = this.items.get(handle);
      if (item !== undefined && item.takenAt === null) return handle;
      this.ready.shift();
    }
    return null;
  }
}
