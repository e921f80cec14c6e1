import { type Clock } from '../../ports/clock.js';
import { type Registry } from '../../ports/registry.js';

/** Announcements inside one process; those who share them share the instance. */
export class InProcessRegistry<A extends { readonly instance: string }> implements Registry<A> {
  private readonly known = new Map<string, { readonly announcement: A; readonly ends: number }>();

  constructor(private readonly clock: Clock) {}

  async announce(announcement: A, ttlMs: number): Promise<void> {
    this.known.set(announcement.instance, { announcement, ends: this.clock.monotonicMs() + ttlMs });
  }

  async withdraw(instance: string): Promise<void> {
    this.known.delete(instance);
  }

  async list(): Promise<A[]> {
    const now = this.clock.monotonicMs();
    for (const [instance, { ends }] of this.known) if (ends <= now) this.known.delete(instance);
    return [...this.known.values()]
      .map(({ announcement }) => announcement)
      .sort((a, b) => (a.instance < b.instance ? -1 : 1));
  }
}
