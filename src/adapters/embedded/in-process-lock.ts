import { type Clock } from '../../ports/clock.js';
import { type Lock, type LockAnswer } from '../../ports/lock.js';

/** Leases inside one process; those who share them share the instance. */
export class InProcessLock implements Lock {
  private readonly leases = new Map<string, { readonly owner: string; readonly ends: number }>();

  constructor(private readonly clock: Clock) {}

  async acquire(name: string, owner: string, ttlMs: number): Promise<LockAnswer> {
    const now = this.clock.monotonicMs();
    const held = this.leases.get(name);
    if (held !== undefined && held.owner !== owner && held.ends > now) {
      return { isHeld: false, holder: held.owner, expiresInMs: held.ends - now };
    }
    this.leases.set(name, { owner, ends: now + ttlMs });
    return { isHeld: true, holder: owner, expiresInMs: ttlMs };
  }

  async renew(name: string, owner: string, ttlMs: number): Promise<boolean> {
    if (!this.isHeldBy(name, owner)) return false;
    this.leases.set(name, { owner, ends: this.clock.monotonicMs() + ttlMs });
    return true;
  }

  async holder(name: string): Promise<string | null> {
    const held = this.leases.get(name);
    return held !== undefined && held.ends > this.clock.monotonicMs() ? held.owner : null;
  }

  async release(name: string, owner: string): Promise<boolean> {
    return this.isHeldBy(name, owner) && this.leases.delete(name);
  }

  private isHeldBy(name: string, owner: string): boolean {
    const held = this.leases.get(name);
    return held?.owner === owner && held.ends > this.clock.monotonicMs();
  }
}
