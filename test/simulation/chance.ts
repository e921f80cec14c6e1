/** Chance that a text repeats: the same seed gives the same numbers, and different names of one seed independent ones. */
export class Chance {
  private a: number;

  constructor(private readonly seed: string) {
    this.a = hash(seed);
  }

  /** Another generator of the same seed, which drawing from this one does not change. */
  named(name: string): Chance {
    return new Chance(`${this.seed}/${name}`);
  }

  /** In [0, 1). The generator is mulberry32 (Tommy Ettinger, public domain). */
  next(): number {
    this.a = (this.a + 0x6d2b79f5) | 0;
    let t = Math.imul(this.a ^ (this.a >>> 15), 1 | this.a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `min` to `max`, both inclusive. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  is(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.int(0, choices.length - 1)];
    if (choice === undefined) throw new Error('nothing to choose from');
    return choice;
  }

  shuffled<T>(members: readonly T[]): T[] {
    return members
      .map((member) => ({ member, order: this.next() }))
      .sort((x, y) => x.order - y.order)
      .map(({ member }) => member);
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h | 0;
}
