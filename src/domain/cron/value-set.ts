/** A set of whole numbers from 0 to 63 as two bit masks: membership and the nearest member cost a few machine instructions. */
export class ValueSet {
  private low = 0;
  private high = 0;
  /** The least and the greatest member; -1 while the set is empty. */
  readonly first: number;
  readonly last: number;

  constructor(values: Iterable<number>) {
    for (const value of values) {
      if (value < 32) this.low |= 1 << value;
      else this.high |= 1 << (value - 32);
    }
    this.first = this.atOrAfter(0);
    this.last = this.atOrBefore(63);
  }

  has(value: number): boolean {
    return ((value < 32 ? this.low >>> value : this.high >>> (value - 32)) & 1) === 1;
  }

  /** The least member that is not below `value` (0 to 64); -1 if there is none. */
  atOrAfter(value: number): number {
    if (value > 63) return -1;
    if (value < 32) {
      const rest = this.low & (-1 << value);
      if (rest !== 0) return lowestBit(rest);
      return this.high === 0 ? -1 : 32 + lowestBit(this.high);
    }
    const rest = this.high & (-1 << (value - 32));
    return rest === 0 ? -1 : 32 + lowestBit(rest);
  }

  /** The greatest member that is not above `value` (-1 to 63); -1 if there is none. */
  atOrBefore(value: number): number {
    if (value < 0) return -1;
    if (value >= 32) {
      const rest = this.high & (-1 >>> (63 - value));
      if (rest !== 0) return 32 + highestBit(rest);
      return this.low === 0 ? -1 : highestBit(this.low);
    }
    const rest = this.low & (-1 >>> (31 - value));
    return rest === 0 ? -1 : highestBit(rest);
  }
}

/** Number of the lowest bit that is set, in a mask that is not 0. */
export const lowestBit = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** Number of the highest bit that is set, in a mask that is not 0. */
export const highestBit = (mask: number): number => 31 - Math.clz32(mask);
