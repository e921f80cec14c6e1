import { type StopReason } from '../../ports/executor.js';
import { type Claim, type Claims } from '../../ports/claims.js';
import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Stops } from '../../ports/stops.js';

interface Held {
  readonly claim: Claim;
  readonly stop: (reason: StopReason) => void;
  /** Monotonic ms up to which the claim is sure to live. */
  safeUntil: number;
}

/**
 * Keeps the claims of all runs of a worker alive, in one call per beat, at a third of their life. A claim that turns out lost stops its
 * run; so does one whose run was asked to stop, which is told at once, or by the next beat, and stays alive until its run has ended.
 * While the store is away the runs go on; whether they kept their claims shows when it is back. Heartbeats are the last thing that a
 * stopping worker stops: `run` is ended by its own signal, after the last run has ended.
 */
export class Heartbeats {
  private readonly held = new Map<string, Held>();

  constructor(
    private readonly deps: {
      readonly claims: Claims;
      readonly stops: Pick<Stops, 'subscribe'>;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      readonly claimTtlMs: number;
    },
  ) {}

  /** `claimedAt`: monotonic ms right before the claim was sent. */
  add(claim: Claim, claimedAt: number, stop: (reason: StopReason) => void): void {
    this.held.set(claim.executionId, { claim, stop, safeUntil: claimedAt + this.deps.claimTtlMs });
  }

  remove(claim: Claim): void {
    if (this.held.get(claim.executionId)?.claim === claim) this.held.delete(claim.executionId);
  }

  /** Whether the claim is alive for sure; renews it first if its life may have passed. @throws AxError `unavailable`. */
  async isAlive(claim: Claim): Promise<boolean> {
    const held = this.held.get(claim.executionId);
    if (held?.claim !== claim) return false;
    if (this.deps.clock.monotonicMs() >= held.safeUntil) await this.beat([held]);
    return this.held.get(claim.executionId) === held;
  }

  /** Whether a run of this very worker has the event; renews its claim to find out. @throws AxError `unavailable`. */
  async holds(executionId: string): Promise<boolean> {
    const held = this.held.get(executionId);
    if (held === undefined) return false;
    await this.beat([held]);
    return this.held.get(executionId) === held;
  }

  async run(stop: AbortSignal): Promise<void> {
    const unsubscribe = this.deps.stops.subscribe((executionId, reason) =>
      this.held.get(executionId)?.stop(reason),
    );
    while (!stop.aborted) {
      await this.deps.clock.sleep(this.deps.claimTtlMs / 3, stop);
      try {
        await this.beat([...this.held.values()]);
      } catch (error) {
        this.deps.logger.warn({ err: error, runs: this.held.size }, 'claims not renewed, trying again');
      }
    }
    unsubscribe();
  }

  private async beat(batch: readonly Held[]): Promise<void> {
    if (batch.length === 0) return;
    const { claims, clock, metrics, logger, claimTtlMs } = this.deps;
    const sentAt = clock.monotonicMs();
    const answers = await claims.renew(
      batch.map((held) => held.claim),
      claimTtlMs,
    );
    for (const [i, held] of batch.entries()) {
      const answer = answers[i] ?? 'lost';
      if (answer !== 'lost') {
        held.safeUntil = sentAt + claimTtlMs;
        if (answer !== 'alive') held.stop(answer);
        continue;
      }
      if (this.held.get(held.claim.executionId) !== held) continue; // It ended while the renewal was under way.
      this.held.delete(held.claim.executionId);
      metrics.count('claims_lost_total', {});
      logger.warn(
        { task_id: held.claim.taskId, execution_id: held.claim.executionId },
        'claim lost, run stops',
      );
      held.stop('claim_lost');
    }
  }
}
