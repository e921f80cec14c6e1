import { type Lock, type LockAnswer } from '../../ports/lock.js';
import { ACQUIRE, RELEASE, RENEW } from './lock-scripts.js';
import { type RedisConnection } from './redis-connection.js';

/** One string key per lease, with the owner as its value and the lease's life as its expiry. */
export class RedisLock implements Lock {
  constructor(private readonly connection: RedisConnection) {}

  async acquire(name: string, owner: string, ttlMs: number): Promise<LockAnswer> {
    const answer = await this.connection.evaluate(
      ACQUIRE,
      [this.connection.keys.lock(name)],
      [owner, Math.ceil(ttlMs)],
    );
    const [holder, expiresInMs] = answer as [string, number];
    return { isHeld: holder === owner, holder, expiresInMs: Math.max(0, expiresInMs) };
  }

  async renew(name: string, owner: string, ttlMs: number): Promise<boolean> {
    const keys = [this.connection.keys.lock(name)];
    return (await this.connection.evaluate(RENEW, keys, [owner, Math.ceil(ttlMs)])) === 1;
  }

  async holder(name: string): Promise<string | null> {
    return this.connection.run((client) => client.get(this.connection.keys.lock(name)));
  }

  async release(name: string, owner: string): Promise<boolean> {
    return (await this.connection.evaluate(RELEASE, [this.connection.keys.lock(name)], [owner])) === 1;
  }
}
