import { type Duplex } from 'node:stream';
import { type ChannelModel, connect } from 'amqplib';
import { AxError } from '../../../domain/errors.js';
import { type Clock } from '../../../ports/clock.js';
import { type Logger } from '../../../ports/logger.js';
import { type Random } from '../../../ports/random.js';
import { Backoff } from './backoff.js';
import { notConnected } from './mq-errors.js';

/** From the first packet to the end of the handshake. */
const CONNECT_MS = 5000;
/** A broker or a network that is silent for two of these is gone; a URL may say otherwise (`?heartbeat=`). */
const HEARTBEAT_SEC = 10;
const CLOSE_MS = 2000;

export interface BrokerConnectionOptions {
  /** The broker's name in tasks. */
  readonly broker: string;
  /** `amqp:` or `amqps:`, with credentials, which are never logged. */
  readonly url: string;
  /** What the broker's operator sees as the name of the connection. */
  readonly purpose: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * One connection to one broker, opened at its first use, and again when it is asked for after a loss: one try at a time, which all who
 * wait share, each after a backoff when the one before failed.
 */
export class BrokerConnection {
  /** Why the broker takes no messages for now (an alarm: memory, disk); null while it takes them. */
  blockedBy: string | null = null;
  /** Why the last connection was lost. */
  lostBy: Error | null = null;
  /** The connection of now, or the try to get one. */
  private current: Promise<ChannelModel> | null = null;
  private model: ChannelModel | null = null;
  private readonly declared = new Map<string, Promise<void>>();
  private readonly unblocked = new Set<() => void>();
  private readonly backoff: Backoff;
  private readonly closing = new AbortController();
  private nextTryAt = 0;
  private isAway = false;

  constructor(private readonly options: BrokerConnectionOptions) {
    this.backoff = new Backoff(options.random);
  }

  /** @throws AxError `unavailable`: this try failed, or the connection was closed for good. */
  async open(): Promise<ChannelModel> {
    if (this.closing.signal.aborted) throw this.closed();
    this.current ??= this.connect();
    return this.current;
  }

  /** Makes sure that a durable queue of this name exists; asks once per connection. Rejects as the driver does. */
  async declare(queue: string): Promise<void> {
    const model = await this.open();
    const declared = this.declared.get(queue) ?? declareQueue(model, queue);
    this.declared.set(queue, declared);
    declared.catch(() => this.declared.delete(queue));
    return declared;
  }

  /** Resolves when the broker takes messages again, when the connection is lost, or when `signal` aborts. */
  whenUnblocked(signal: AbortSignal): Promise<void> {
    if (this.blockedBy === null || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.unblocked.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.unblocked.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** Ends the connection for good, within two seconds. */
  async close(): Promise<void> {
    this.closing.abort();
    const { model } = this;
    if (model === null) return;
    const { clock } = this.options;
    const over = new AbortController();
    await Promise.race([
      model.close().catch(() => undefined), // It was closed already.
      clock.sleep(CLOSE_MS, over.signal),
    ]);
    over.abort();
    streamOf(model).destroy();
  }

  private async connect(): Promise<ChannelModel> {
    const { broker, url, purpose, clock, logger } = this.options;
    try {
      const waitMs = this.nextTryAt - clock.monotonicMs();
      if (waitMs > 0) await clock.sleep(waitMs, this.closing.signal);
      if (this.closing.signal.aborted) throw this.closed();
      const model = await connect(withHeartbeat(url), {
        timeout: CONNECT_MS,
        noDelay: true,
        clientProperties: { connection_name: purpose },
      });
      this.watch(model);
      if (this.closing.signal.aborted) {
        streamOf(model).destroy();
        throw this.closed();
      }
      this.backoff.reset();
      if (this.isAway) logger.info({ broker }, 'broker connection is back');
      this.isAway = false;
      return model;
    } catch (error) {
      this.current = null;
      this.away(error);
      throw error instanceof AxError ? error : notConnected(broker, error);
    }
  }

  private watch(model: ChannelModel): void {
    this.model = model;
    // The close that follows says the same; without a listener the process would end.
    model.on('error', (error) => (this.lostBy = error));
    model.on('blocked', (reason) => {
      this.blockedBy = reason;
      this.options.logger.warn({ broker: this.options.broker, reason }, 'broker takes no messages for now');
    });
    model.on('unblocked', () => this.unblock());
    model.on('close', (error) => {
      // The driver only ends its half of a connection, which a vanished peer would never end.
      streamOf(model).destroy();
      this.lostBy = error ?? new Error('the connection was closed');
      this.current = null;
      this.model = null;
      this.declared.clear();
      this.unblock();
      if (!this.closing.signal.aborted) this.away(this.lostBy);
    });
  }

  private unblock(): void {
    this.blockedBy = null;
    for (const end of [...this.unblocked]) end();
  }

  /** Logs the first failure of each outage. */
  private away(error: unknown): void {
    const { broker, clock, logger } = this.options;
    if (this.closing.signal.aborted) return;
    this.nextTryAt = clock.monotonicMs() + this.backoff.next();
    if (this.isAway) return;
    this.isAway = true;
    logger.warn({ broker, err: notConnected(broker, error) }, 'broker connection failed');
  }

  private closed(): AxError {
    return new AxError(
      'unavailable',
      `broker "${this.options.broker}": this node has closed its connections`,
    );
  }
}

async function declareQueue(model: ChannelModel, queue: string): Promise<void> {
  const channel = await model.createChannel();
  channel.on('error', () => undefined); // The call that caused it rejects.
  await channel.assertQueue(queue, { durable: true });
  await channel.close();
}

function withHeartbeat(text: string): string {
  const url = new URL(text);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_SEC));
  return url.href;
}

/** Not in the driver's types; its own `close` waits for the peer without a bound. */
const streamOf = (model: ChannelModel): Duplex =>
  (model.connection as unknown as { readonly stream: Duplex }).stream;
