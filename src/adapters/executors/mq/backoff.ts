import { type Random } from '../../../ports/random.js';

const FIRST_MS = 100;
const MOST_MS = 5000;

/** Growing pauses between failures: 100 ms, doubled each time, 5 s at most, each drawn from its upper half. */
export class Backoff {
  private failures = 0;

  constructor(private readonly random: Random) {}

  /** The pause after one more failure, ms. */
  next(): number {
    const planned = Math.min(FIRST_MS * 2 ** Math.min(this.failures, 10), MOST_MS);
    this.failures += 1;
    return planned * (0.5 + this.random.next() / 2);
  }

  reset(): void {
    this.failures = 0;
  }
}
