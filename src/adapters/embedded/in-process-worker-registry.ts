import { type Clock } from '../../ports/clock.js';
import { type WorkerAnnouncement, type WorkerRegistry } from '../../ports/worker-registry.js';

/** Workers inside one process; those who share them share the instance. */
export class InProcessWorkerRegistry implements WorkerRegistry {
  private readonly known = new Map<string, { readonly worker: WorkerAnnouncement; readonly ends: number }>();

  constructor(private readonly clock: Clock) {}

  async announce(worker: WorkerAnnouncement, ttlMs: number): Promise<void> {
    this.known.set(worker.instance, { worker, ends: this.clock.monotonicMs() + ttlMs });
  }

  async withdraw(instance: string): Promise<void> {
    this.known.delete(instance);
  }

  async list(): Promise<WorkerAnnouncement[]> {
    const now = this.clock.monotonicMs();
    for (const [instance, { ends }] of this.known) if (ends <= now) this.known.delete(instance);
    return [...this.known.values()]
      .map(({ worker }) => worker)
      .sort((a, b) => (a.instance < b.instance ? -1 : 1));
  }
}
