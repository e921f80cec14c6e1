import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { type WorkerAnnouncement, type WorkerRegistry } from '../../ports/worker-registry.js';

/** What does not change while the worker lives. */
export type WorkerIdentity = Pick<
  WorkerAnnouncement,
  'instance' | 'node' | 'pools' | 'executors' | 'concurrency' | 'version' | 'zoneData'
>;

/**
 * Tells the cluster that this worker lives: serving → draining → withdrawn. What it says holds for `ttlMs`, and it says it three times in
 * that time; so a worker that died is missed after `ttlMs` at most, and one that ends in order at once. While the registry is away
 * the worker goes on all the same.
 */
export class AnnounceWorker {
  private isDraining = false;
  /** Epoch ms; null before. */
  private startedAt: number | null = null;

  constructor(
    private readonly deps: {
      readonly registry: WorkerRegistry;
      readonly clock: Clock;
      readonly logger: Logger;
      readonly worker: { readonly running: number };
    },
    private readonly self: WorkerIdentity,
    private readonly ttlMs: number,
  ) {}

  /** Ended after the worker's last run. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, registry, logger } = this.deps;
    this.startedAt = clock.now();
    while (!stop.aborted) {
      await this.announce(this.startedAt);
      await clock.sleep(this.ttlMs / 3, stop);
    }
    try {
      await registry.withdraw(this.self.instance);
    } catch (error) {
      logger.warn({ err: error }, 'worker not withdrawn, its announcement runs out');
    }
  }

  /** From now on the worker takes nothing new, which is said at once. */
  async drain(): Promise<void> {
    this.isDraining = true;
    if (this.startedAt !== null) await this.announce(this.startedAt);
  }

  private async announce(startedAt: number): Promise<void> {
    const { registry, clock, logger, worker } = this.deps;
    const { isDraining } = this;
    const state = { running: worker.running, isDraining, startedAt, seenAt: clock.now() };
    try {
      await registry.announce({ ...this.self, ...state }, this.ttlMs);
    } catch (error) {
      logger.warn({ err: error }, 'worker not announced, trying again');
    }
  }
}
