import { Redis, type RedisOptions } from 'ioredis';
import { AxError, messageOf } from '../../domain/errors.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { before } from './before.js';
import { isNoScript, unavailable } from './redis-errors.js';
import { RedisKeys } from './redis-keys.js';
import { type RedisScript } from './redis-script.js';

/** Every call is answered or refused within this time. */
const COMMAND_MS = 2000;
const BACKOFF_MS = { first: 50, most: 1000 };

const OPTIONS = {
  lazyConnect: true,
  enableAutoPipelining: true,
  // A command that was given up must not be sent later, when its caller has moved on: no queue while away, nothing sent again.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  connectTimeout: COMMAND_MS,
  commandTimeout: COMMAND_MS,
  // Replaces a connection that was cut without a word; without it every later command would time out on the dead socket.
  socketTimeout: COMMAND_MS + 1000,
  keepAlive: 10_000,
  retryStrategy: (times: number) =>
    Math.min(BACKOFF_MS.first * 2 ** Math.min(times - 1, 10), BACKOFF_MS.most) * (0.5 + Math.random() / 2),
  // A primary that was demoted refuses writes; its successor is found by connecting again.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

export interface DedicatedConnection {
  readonly client: Redis;
  /** What the server calls it. */
  readonly id: number;
}

/**
 * The connections of one node to one Redis: one for commands, which reconnects for ever, and dedicated ones for calls that block or
 * listen. Connects at the first use. While Redis is away a call fails as AxError `unavailable` within two seconds; nothing piles up.
 */
export class RedisConnection {
  readonly keys: RedisKeys;
  private readonly client: Redis;
  private readonly logger: Logger;
  private readonly metrics: Metrics | null;
  private readonly dedicated = new Set<Redis>();
  private readiness: Promise<void> | null = null;
  private stopWaiting = () => {};
  private lastError: unknown = null;
  private isClosed = false;

  /** @throws AxError `refused_start` for a namespace that makes no keys. */
  constructor(settings: {
    readonly url: string;
    readonly namespace: string;
    readonly logger: Logger;
    readonly metrics?: Metrics;
  }) {
    this.metrics = settings.metrics ?? null;
    this.keys = new RedisKeys(settings.namespace);
    this.logger = settings.logger;
    this.client = new Redis(settings.url, { ...OPTIONS, connectionName: this.keys.connection('commands') });
    this.watch(this.client, 'commands');
  }

  /** Sends commands that do not block. @throws AxError `unavailable`; the commands may have taken effect. */
  async run<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const giveUpAt = startedAt + COMMAND_MS;
    try {
      if (this.client.status !== 'ready') await before(this.whenReady(), COMMAND_MS, () => this.away());
      return await before(command(this.client), giveUpAt - performance.now(), () => this.away());
    } catch (error) {
      const failure = unavailable(error);
      this.metrics?.count('redis_errors_total', { code: failure.code });
      throw failure;
    } finally {
      const seconds = (performance.now() - startedAt) / 1000;
      this.metrics?.observe('redis_operation_duration_seconds', {}, seconds);
    }
  }

  /** Runs a script; the answer's shape is the script's. Calls made in the same turn of the event loop share one round trip. */
  evaluate(
    { sha, source }: RedisScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.run(async (client) => {
      try {
        return await client.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        if (!isNoScript(error)) throw error;
        return client.eval(source, keys.length, ...keys, ...args);
      }
    });
  }

  /** One section of INFO as text; null if the server forbids INFO. @throws AxError `unavailable`. */
  async info(section: 'server' | 'memory' | 'replication' | 'persistence'): Promise<string | null> {
    try {
      return await this.run((client) => client.info(section));
    } catch (error) {
      if (error instanceof AxError && !error.retryable) return null;
      throw error;
    }
  }

  /** A connection of its own for calls that block; it has no command timeout and does not reconnect. Give it to `drop` afterwards. */
  async open(): Promise<DedicatedConnection> {
    if (this.isClosed) throw this.away();
    const client = this.client.duplicate({
      connectionName: this.keys.connection('blocking'),
      enableAutoPipelining: false,
      commandTimeout: undefined,
      socketTimeout: undefined,
      retryStrategy: null,
    });
    this.dedicated.add(client);
    this.watch(client, 'blocking');
    try {
      const connected = client.connect().then(() => client.client('ID'));
      return { client, id: await before(connected, COMMAND_MS, () => this.away()) };
    } catch (error) {
      this.drop(client);
      throw unavailable(error);
    }
  }

  drop(client: Redis): void {
    this.dedicated.delete(client);
    client.disconnect();
  }

  /** Listens to a channel for ever, over every reconnect; `onMessage` is called with null when messages may have been missed. */
  listen(channel: string, onMessage: (message: string | null) => void): void {
    const client = this.client.duplicate({
      connectionName: this.keys.connection('wakeup'),
      enableAutoPipelining: false,
    });
    this.dedicated.add(client);
    this.watch(client, 'wakeup');
    let hasListened = false;
    client.on('message', (_channel, message: string) => onMessage(message));
    client.on('ready', () => {
      client.subscribe(channel).then(
        () => {
          if (hasListened) onMessage(null);
          hasListened = true;
        },
        (error: unknown) => this.logger.warn({ err: unavailable(error) }, `cannot listen to ${channel}`),
      );
    });
    client.connect().catch(() => undefined); // `watch` has told.
  }

  /** Ends the dedicated connections, then the one for commands once its answers are in. Calls under way end as `unavailable`. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopWaiting();
    await Promise.all([...this.dedicated].map((client) => end(client)));
    this.dedicated.clear();
    if (this.client.status === 'ready') {
      await before(this.client.quit(), COMMAND_MS, () => this.away()).catch(() => undefined);
    }
    await end(this.client);
  }

  private whenReady(): Promise<void> {
    if (this.isClosed) throw this.away();
    this.readiness ??= new Promise((resolve, reject) => {
      this.client.once('ready', () => {
        this.readiness = null;
        resolve();
      });
      this.stopWaiting = () => reject(this.away());
    });
    this.readiness.catch(() => undefined); // Those who wait may have given up by then.
    if (this.client.status === 'wait') this.client.connect().catch(() => undefined); // `watch` has told.
    return this.readiness;
  }

  private away(): AxError {
    if (this.isClosed) return new AxError('unavailable', 'Redis: this node has closed its connections');
    const why = this.lastError === null ? '' : ` (${messageOf(this.lastError)})`;
    return new AxError('unavailable', `Redis: no answer within ${COMMAND_MS} ms${why}`);
  }

  /** Logs the first error of each outage. Without a listener the driver would print every one. */
  private watch(client: Redis, purpose: string): void {
    let isAway = false;
    client.on('error', (error: Error) => {
      this.lastError = error;
      if (isAway) return;
      isAway = true;
      this.logger.warn({ err: unavailable(error), connection: purpose }, 'Redis connection failed');
    });
    client.on('ready', () => {
      this.lastError = null;
      if (isAway) this.logger.info({ connection: purpose }, 'Redis connection is back');
      isAway = false;
    });
  }
}

function end(client: Redis): Promise<void> {
  if (client.status === 'end') return Promise.resolve();
  return new Promise((resolve) => {
    client.once('end', resolve);
    client.disconnect();
    // Between two attempts there is no socket whose end the driver could tell.
    if (client.status === 'reconnecting') resolve();
  });
}
