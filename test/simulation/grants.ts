import { type Claim } from '../../src/ports/claims.js';
import { type StopRequest } from '../../src/ports/stops.js';

interface Grant {
  readonly generation: number;
  /** Of the queue. */
  readonly life: number;
  /** Why this claim was asked to stop: its worker may have heard of it, which outlasts the queue's own memory. */
  readonly asked: Set<StopRequest>;
}

/** The latest claim on each execution that each worker was given, or asserted, over all lives of the queue. */
export class Grants {
  private readonly byExecution = new Map<string, Map<string, Grant>>();

  of(executionId: string, worker: string): Grant | undefined {
    return this.byExecution.get(executionId)?.get(worker);
  }

  /** A new claim; `stop` came with it. */
  give(claim: Claim, life: number, stop: StopRequest | null): void {
    this.write(claim, life, new Set(stop === null ? [] : [stop]));
  }

  /** A claim of an earlier life goes on in this one. */
  carryOver(claim: Claim, life: number): void {
    const known = this.of(claim.executionId, claim.worker);
    this.write(claim, life, known?.generation === claim.generation ? known.asked : new Set());
  }

  /** The workers of all claims that were given so far may hear of it. */
  ask(executionId: string, reason: StopRequest): void {
    for (const { asked } of this.byExecution.get(executionId)?.values() ?? []) asked.add(reason);
  }

  /** Whether any life of the queue has asked this claim to stop for that reason. */
  wasAsked({ executionId, worker, generation }: Claim, reason: StopRequest): boolean {
    const grant = this.of(executionId, worker);
    return grant?.generation === generation && grant.asked.has(reason);
  }

  private write({ executionId, worker, generation }: Claim, life: number, asked: Set<StopRequest>): void {
    const own = this.byExecution.get(executionId) ?? new Map<string, Grant>();
    this.byExecution.set(executionId, own.set(worker, { generation, life, asked }));
  }
}
