import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisClaims } from '../../src/adapters/redis/redis-claims.js';
import { RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { RedisLastOutcomes } from '../../src/adapters/redis/redis-last-outcomes.js';
import { RedisQueue } from '../../src/adapters/redis/redis-queue.js';
import { RedisResults } from '../../src/adapters/redis/redis-results.js';
import { RedisStops } from '../../src/adapters/redis/redis-stops.js';
import { type Logger } from '../../src/ports/logger.js';
import { type BrokerHarness } from './broker-harness.js';
import { until } from './until.js';

/** A logger that says nothing. */
export const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A namespace of its own on a shared server, with a plain client to look at it and to break it. */
export class RedisNamespace {
  readonly name = `test-${randomBytes(6).toString('hex')}`;
  readonly prefix = `ax:{${this.name}}:`;
  readonly redis: Redis;
  private readonly opened: RedisConnection[] = [];

  constructor(private readonly url: string) {
    this.redis = new Redis(url);
  }

  /** A node's connections, closed with the namespace. */
  connect(url = this.url, logger = silent): RedisConnection {
    const connection = new RedisConnection({ url, namespace: this.name, logger });
    this.opened.push(connection);
    return connection;
  }

  async keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of this.redis.scanStream({ match: `${this.prefix}*`, count: 1000 })) {
      found.push(...(keys as string[]));
    }
    return found;
  }

  /** Everything is gone, as after a restart without data. */
  async empty(): Promise<void> {
    const keys = await this.keys();
    if (keys.length > 0) await this.redis.unlink(keys);
  }

  /** Returns once `ms` have passed on the server. */
  async advance(ms: number): Promise<void> {
    const target = (await this.serverTime()) + ms;
    await until('the time to pass', async () => (await this.serverTime()) > target, ms + 30_000);
  }

  async close(): Promise<void> {
    await Promise.all(this.opened.map((connection) => connection.close()));
    await this.empty();
    await this.redis.quit();
  }

  /** Queue, claims, stops and results of one node in this namespace. */
  broker(connection = this.connect()): BrokerHarness {
    const add = async (stream: string, text: string) => {
      await this.redis.xadd(this.prefix + stream, '*', 'json', text);
    };
    return {
      queue: new RedisQueue(connection),
      claims: new RedisClaims(connection),
      results: new RedisResults(connection),
      lastOutcomes: new RedisLastOutcomes(connection),
      stops: new RedisStops(connection),
      now: async () => Math.floor(await this.serverTime()),
      advance: (ms) => this.advance(ms),
      loseData: () => this.empty(),
      spoilQueue: (pool, text) => add(`queue:${pool}`, text),
      spoilResults: (text) => add('results', text),
      close: () => this.close(),
    };
  }

  /** The server's clock, epoch ms. */
  async serverTime(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  }
}
