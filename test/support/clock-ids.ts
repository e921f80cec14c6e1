import { type Clock } from '../../src/ports/clock.js';
import { type Ids } from '../../src/ports/ids.js';

/** UUIDs of version 7 by a clock that may be a fake one: stores read the time of an event from its id. */
export class ClockIds implements Ids {
  private lastMs = 0;
  private count = 0;

  constructor(
    private readonly clock: Clock,
    /** Keeps the ids of several nodes apart; below 4096. */
    private readonly node = 0,
  ) {}

  next(): string {
    this.lastMs = Math.max(this.lastMs, this.clock.now());
    const time = this.lastMs.toString(16).padStart(12, '0');
    const tail = (this.count += 1).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-${(0x8000 + this.node).toString(16)}-${tail}`;
  }
}
