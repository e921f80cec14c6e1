/** One thing that happened, as seen from outside of the cluster. `at` is true time, epoch ms. */
export type Fact = { readonly at: number } & (
  | { readonly kind: 'step'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly node: string;
      readonly executionId: string;
      readonly taskId: string;
      readonly slot: number;
      readonly attempt: number;
      /** The claim that it runs under; 0 if there is none. */
      readonly generation: number;
      /** Which life of the queue gave the claim. */
      readonly life: number;
    }
  | {
      readonly kind: 'answer';
      readonly node: string;
      readonly executionId: string;
      readonly attempt: number;
      readonly text: string;
    }
  | {
      readonly kind: 'claim' | 'finish' | 'abandon' | 'handBack' | 'lost';
      readonly node: string;
      readonly executionId: string;
      readonly generation: number;
      readonly text: string;
    }
  | { readonly kind: 'violation'; readonly rule: string; readonly executionId: string; readonly text: string }
);

/** What a fact says beside its time. */
type Untimed<F> = F extends unknown ? Omit<F, 'at'> : never;

export class Journal {
  readonly facts: Fact[] = [];

  constructor(private readonly time: { now(): number }) {}

  add(fact: Untimed<Fact>): void {
    this.facts.push({ at: this.time.now(), ...fact });
  }

  of<K extends Fact['kind']>(kind: K): Extract<Fact, { kind: K }>[] {
    return this.facts.filter((fact): fact is Extract<Fact, { kind: K }> => fact.kind === kind);
  }
}
