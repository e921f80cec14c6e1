import { type ExecutionReport } from '../../domain/execution.js';
import { type Claim, type ClaimProgress } from '../../ports/claims.js';
import { type StopReason } from '../../ports/executor.js';
import { type RunDeps } from './run-deps.js';
import { type RunTrace } from './run-trace.js';

const RETRY_MS = { first: 200, most: 5000 };

/**
 * What one run says to the queue under its claim. Reports on the way are for watchers and may get lost, since the next one carries the
 * whole state again; the final word is repeated until the queue has answered.
 */
export class HeldClaim {
  constructor(
    private readonly deps: RunDeps,
    private readonly claim: Claim,
    private readonly trace: RunTrace,
    private readonly stop: AbortController,
  ) {}

  /** A claim that turns out lost stops the run. */
  async report(report: ExecutionReport, progress: ClaimProgress): Promise<void> {
    try {
      if (await this.deps.claims.report(this.claim, report, progress)) return;
      this.stop.abort('claim_lost' satisfies StopReason);
    } catch (error) {
      this.deps.logger.warn({ ...this.trace.facts, err: error }, `report not sent: ${report.entry.kind}`);
    }
  }

  /** As `report`, for what the next worker must know: repeated until the queue has answered. */
  async reportSurely(report: ExecutionReport, progress: ClaimProgress): Promise<void> {
    const isHeld = await this.untilAnswered(() => this.deps.claims.report(this.claim, report, progress));
    if (!isHeld) this.stop.abort('claim_lost' satisfies StopReason);
  }

  /** Whether the claim is ours for sure. */
  isAlive(): Promise<boolean> {
    return this.untilAnswered(() => this.deps.heartbeats.isAlive(this.claim));
  }

  /** False if the claim was lost: the report does not count. */
  finish(report: ExecutionReport): Promise<boolean> {
    const last = { ...report, traceparent: this.trace.context };
    return this.leave('finish', report, () => this.deps.claims.finish(this.claim, last));
  }

  abandon(report: ExecutionReport): Promise<boolean> {
    return this.leave('abandon', report, () => this.deps.claims.abandon(this.claim, report));
  }

  handBack(report: ExecutionReport, progress: ClaimProgress): Promise<boolean> {
    return this.leave('hand_back', report, () => this.deps.claims.handBack(this.claim, report, progress));
  }

  private async leave(how: string, report: ExecutionReport, call: () => Promise<boolean>): Promise<boolean> {
    const { trace } = this;
    const isOurs = await trace.step(
      how,
      () => this.untilAnswered(call),
      (was) => ({ attributes: { 'ax.claim.lost': !was } }),
    );
    if (isOurs) trace.ended(report);
    else trace.lost();
    return isOurs;
  }

  /** Repeats a safe call until the queue answers; the answer may be that the claim was lost meanwhile. */
  async untilAnswered(call: () => Promise<boolean>): Promise<boolean> {
    const { clock, logger } = this.deps;
    for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
      try {
        return await call();
      } catch (error) {
        logger.warn({ ...this.trace.facts, err: error }, 'the queue does not answer, the result waits here');
        await clock.sleep(waitMs);
      }
    }
  }
}
