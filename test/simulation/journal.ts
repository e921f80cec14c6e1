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
      readonly kind: 'claim' | 'wait' | 'finish' | 'abandon' | 'handBack' | 'lost';
      readonly node: string;
      readonly executionId: string;
      readonly generation: number;
      readonly text: string;
    }
  | {
      /** Of a target: what became of a receipt that it sent. */
      readonly kind: 'receipt';
      readonly executionId: string;
      readonly attempt: number;
      readonly says: 'success' | 'fail' | 'progress';
      readonly text: string;
    }
  /** What the queue answered to a cancel. */
  | { readonly kind: 'cancel'; readonly executionId: string; readonly text: string }
  /** Whoever asked for a cancel was told that the run has ended. */
  | { readonly kind: 'told_end'; readonly executionId: string; readonly text: string }
  /** The queue has lost data. */
  | { readonly kind: 'loss'; readonly text: string }
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
