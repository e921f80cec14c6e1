import { type Wakeup } from '../../ports/wakeup.js';
import { type RedisConnection } from './redis-connection.js';

/** Wake-ups by PUBLISH and SUBSCRIBE. After a reconnect every subscriber is woken, since it may have missed one. */
export class RedisWakeup implements Wakeup {
  private readonly listeners = new Set<{ readonly wake: () => void }>();
  private isListening = false;

  constructor(private readonly connection: RedisConnection) {}

  /** While Redis is away it still wakes the subscribers of this process. */
  async notify(): Promise<void> {
    try {
      await this.connection.run((client) => client.publish(this.connection.keys.wake, ''));
    } catch {
      this.wakeAll();
    }
  }

  subscribe(listener: () => void): () => void {
    const entry = { wake: listener };
    this.listeners.add(entry);
    if (!this.isListening) this.connection.listen(this.connection.keys.wake, () => this.wakeAll());
    this.isListening = true;
    return () => void this.listeners.delete(entry);
  }

  private wakeAll(): void {
    for (const { wake } of [...this.listeners]) wake();
  }
}
