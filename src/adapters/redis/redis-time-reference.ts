import { type TimeReference } from '../../ports/time-reference.js';
import { type RedisConnection } from './redis-connection.js';

/** The server's own clock, by TIME; microseconds. */
export class RedisTimeReference implements TimeReference {
  constructor(private readonly connection: RedisConnection) {}

  async nowMs(): Promise<number> {
    const [seconds, microseconds] = await this.connection.run((client) => client.time());
    return Number(seconds) * 1000 + Number(microseconds) / 1000;
  }
}
