import { type NodeAnnouncement } from '../../ports/node-registry.js';
import { type Registry } from '../../ports/registry.js';
import { type WorkerAnnouncement } from '../../ports/worker-registry.js';
import { encode } from './codec.js';
import { type RedisConnection } from './redis-connection.js';
import { ANNOUNCE, LIST, WITHDRAW } from './registry-scripts.js';

/** See registry-scripts.ts. */
export class RedisRegistry<A extends WorkerAnnouncement | NodeAnnouncement> implements Registry<A> {
  constructor(
    private readonly connection: RedisConnection,
    /** Announcements and their lives. */
    private readonly keys: readonly [string, string],
    private readonly decode: (text: string) => A,
  ) {}

  async announce(announcement: A, ttlMs: number): Promise<void> {
    const args = [announcement.instance, encode(announcement), Math.ceil(ttlMs)];
    await this.connection.evaluate(ANNOUNCE, this.keys, args);
  }

  async withdraw(instance: string): Promise<void> {
    await this.connection.evaluate(WITHDRAW, this.keys, [instance]);
  }

  async list(): Promise<A[]> {
    const texts = (await this.connection.evaluate(LIST, this.keys, [])) as string[];
    return texts.flatMap((text) => this.readable(text)).sort((a, b) => (a.instance < b.instance ? -1 : 1));
  }

  private readable(text: string): A[] {
    try {
      return [this.decode(text)];
    } catch {
      return [];
    }
  }
}
