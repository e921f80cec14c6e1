import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import { type Clock } from '../../ports/clock.js';
import { type Ids } from '../../ports/ids.js';

const LAST_SEQ = 2 ** 32 - 1;

/**
 * Ids carry the node's time, not the wall clock's, since stores read it from them. They stay in order within a millisecond and when that
 * time steps back, by a counter that starts anew, in the lower half of its range, with every later millisecond.
 */
export class UuidIds implements Ids {
  private msecs = 0;
  private seq = 0;

  constructor(private readonly clock: Clock) {}

  next(): string {
    const now = this.clock.now();
    if (now > this.msecs || this.seq === LAST_SEQ) {
      this.msecs = Math.max(now, this.msecs + 1);
      this.seq = randomInt(2 ** 31);
    } else {
      this.seq += 1;
    }
    return v7({ msecs: this.msecs, seq: this.seq });
  }
}
