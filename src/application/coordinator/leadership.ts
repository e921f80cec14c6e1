import { type Clock } from '../../ports/clock.js';
import { type Lock, type LockAnswer } from '../../ports/lock.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';

/** The lease of the one coordinator that leads. */
export const LEASE = 'leader';
/** Share of the lease after which its holder stops acting, so that a slow or drifting node stops before the lease ends. */
const SAFE_SHARE = 0.9;

/**
 * The leader lease of one coordinator: standby → leader → standby. A node acts as leader only between a successful renewal and
 * `SAFE_SHARE` of the lease after that renewal was *sent*, by its monotonic clock; so a paused or cut-off leader knows by
 * itself that it must not act, before anybody else can lead.
 */
export class Leadership {
  private safeUntil = -Infinity;
  private isLeader = false;

  constructor(
    private readonly deps: {
      readonly lock: Lock;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      /** Identifies this process in this life. */
      readonly owner: string;
      readonly leaseMs: number;
    },
  ) {}

  /** Takes or renews the lease. `retryInMs` says when a standby may get it. @throws AxError `unavailable`. */
  async ensure(): Promise<{ isLeader: boolean; retryInMs: number }> {
    const { lock, clock, owner, leaseMs } = this.deps;
    const sentAt = clock.monotonicMs();
    let answer: LockAnswer;
    try {
      answer = await lock.acquire(LEASE, owner, leaseMs);
    } catch (error) {
      if (!this.isCurrent()) this.become(false, 'unknown');
      throw error;
    }
    if (answer.isHeld) this.safeUntil = sentAt + leaseMs * SAFE_SHARE;
    this.become(answer.isHeld, answer.holder);
    return { isLeader: answer.isHeld, retryInMs: answer.expiresInMs + 1 };
  }

  /** Whether this node may act as leader at this very moment. */
  isCurrent(): boolean {
    return this.isLeader && this.deps.clock.monotonicMs() < this.safeUntil;
  }

  /** Ends the lease at once, for a handover that costs milliseconds; also one whose grant was never heard of. */
  async release(): Promise<void> {
    this.safeUntil = -Infinity;
    this.become(false, 'nobody');
    await this.deps.lock.release(LEASE, this.deps.owner);
  }

  private become(isLeader: boolean, holder: string): void {
    const { metrics, logger } = this.deps;
    metrics.gauge('leader', {}, isLeader ? 1 : 0);
    if (isLeader === this.isLeader) return;
    this.isLeader = isLeader;
    if (isLeader) metrics.count('leader_changes_total', {});
    else metrics.clearLeaders();
    logger.info({ holder }, isLeader ? 'this node leads now' : 'this node is standby now');
  }
}
