import { type Random } from '../../ports/random.js';

/** Good enough for jitter; not for secrets. */
export class SystemRandom implements Random {
  next(): number {
    return Math.random();
  }
}
