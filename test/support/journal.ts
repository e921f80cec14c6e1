import { type Clock } from '../../src/ports/clock.js';

/** One call to a port, when it began or, if only its answer tells what it is about, when it ended. */
export interface JournalEntry {
  readonly call: string;
  readonly at: number;
  readonly args: readonly unknown[];
}

/** Keeps the calls to watched ports that have to do with one thing, in order. */
export class Journal {
  readonly entries: JournalEntry[] = [];

  /** `clock`: that of the watched node. `isAbout`: whether arguments or an answer have to do with it. */
  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly isAbout: (value: unknown) => boolean,
  ) {}

  note(call: string, args: readonly unknown[] = []): void {
    this.entries.push({ call, at: this.clock.now(), args });
  }

  /** The port, with its asynchronous calls in the journal as `name.method`; those in `always` whatever they are about. */
  watch<T extends object>(name: string, port: T, always: readonly string[] = []): T {
    return new Proxy(port, {
      get: (target, key) => {
        const method: unknown = Reflect.get(target, key, target);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          const isKnown = always.includes(String(key)) || this.isAbout(args);
          if (isKnown) this.note(`${name}.${String(key)}`, args);
          const answer: unknown = await Reflect.apply(method, target, args);
          if (!isKnown && this.isAbout(answer)) this.note(`${name}.${String(key)}`, args);
          return answer;
        };
      },
    });
  }

  /** Positions of a call. */
  positions(call: string): number[] {
    return this.entries.flatMap((entry, i) => (entry.call === call ? [i] : []));
  }

  /** Where a call was made first. Fails if it never was. */
  first(call: string): number {
    const [position] = this.positions(call);
    if (position === undefined) throw new Error(`${call} was never called`);
    return position;
  }

  last(call: string): number {
    return this.positions(call).at(-1) ?? this.first(call);
  }
}
