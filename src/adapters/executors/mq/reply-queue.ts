import { type Channel, type ConsumeMessage } from 'amqplib';
import { AxError } from '../../../domain/errors.js';
import { type Clock } from '../../../ports/clock.js';
import { type Logger } from '../../../ports/logger.js';
import { type Metrics } from '../../../ports/metrics.js';
import { type Random } from '../../../ports/random.js';
import { type ReceiptAnswer, type Receipts } from '../../../ports/receipts.js';
import { type TokenHash } from '../../../ports/token-hash.js';
import { Backoff } from './backoff.js';
import { BrokerConnection } from './broker-connection.js';
import { errorLine } from './mq-errors.js';
import { type ReceiptMessage, receiptOf } from './receipt-message.js';

/** Receipts in work at a time. */
const PREFETCH = 100;
/** A receipt whose wait nobody knows yet is tried so often, so far apart: its worker may be about to open the wait (again). */
const UNKNOWN = { tries: 11, pauseMs: 2000 };
/** The broker gets a receipt back that the store could not take, after this pause. */
const STORE_PAUSE_MS = 1000;

export interface ReplyQueueOptions {
  readonly broker: string;
  readonly url: string;
  readonly queue: string;
  readonly receipts: Pick<Receipts, 'post'>;
  readonly hash: TokenHash;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * Takes the receipts that consumers send over one broker, on a connection of its own (a broker that takes no messages for now stops
 * reading from those who publish). A receipt is acknowledged after the store has taken or refused it; while the store is away it goes
 * back to the broker, so nothing is lost, and a receipt may be posted twice. Wrong ones are logged, counted and dropped.
 */
export class ReplyQueue {
  private readonly connection: BrokerConnection;
  private readonly inWork = new Set<Promise<void>>();

  constructor(private readonly options: ReplyQueueOptions) {
    this.connection = new BrokerConnection({ ...options, purpose: 'ax receipts' });
  }

  /** Consumes until `stop` aborts, over every loss of connection, channel or queue. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const consuming = this.consumeOnAndOn(stop);
    await new Promise<void>((resolve) => {
      stop.addEventListener('abort', () => resolve(), { once: true });
      if (stop.aborted) resolve();
    });
    await Promise.all(this.inWork);
    await this.connection.close();
    await consuming;
  }

  private async consumeOnAndOn(stop: AbortSignal): Promise<void> {
    const { broker, queue, clock, random, logger } = this.options;
    const backoff = new Backoff(random);
    let isAway = false;
    while (!stop.aborted) {
      try {
        await this.consume(stop, () => {
          backoff.reset();
          if (isAway) logger.info({ broker, queue }, 'receipts come in again');
          isAway = false;
        });
      } catch (error) {
        if (stop.aborted) return;
        if (!isAway) logger.warn({ broker, queue, err: error }, 'no receipts from this broker for now');
        isAway = true;
      }
      await clock.sleep(backoff.next(), stop);
    }
  }

  /** Rejects when the consumer has ended, which also the end of the connection does. */
  private async consume(stop: AbortSignal, onBegin: () => void): Promise<void> {
    const { queue } = this.options;
    const model = await unless(stop, this.connection.open());
    if (model === null) return;
    const channel = await model.createChannel();
    const over = new AbortController();
    stop.addEventListener('abort', () => over.abort(), { once: true, signal: over.signal });
    const ended = new Promise<never>((_resolve, reject) => {
      const lost = (why: string) => {
        over.abort();
        reject(new AxError('unavailable', `queue "${queue}": ${why}`));
      };
      channel.on('error', (error) => lost(errorLine(error)));
      channel.on('close', () => lost('the connection was lost'));
      channel.on('cancel', () => lost('it was deleted'));
    });
    ended.catch(() => undefined); // The calls before it is awaited tell the same.
    try {
      await channel.prefetch(PREFETCH);
      await channel.assertQueue(queue, { durable: true });
      await channel.consume(queue, (message) => {
        if (message !== null) this.begin(channel, message, over.signal);
      });
      onBegin();
      await ended;
    } finally {
      over.abort();
      channel.close().catch(() => undefined); // It is gone already, but for a queue that was deleted.
    }
  }

  private begin(channel: Channel, message: ConsumeMessage, over: AbortSignal): void {
    const work = this.take(channel, message, over).catch((error: unknown) => {
      // The channel is gone, and the broker delivers the message again.
      this.options.logger.debug({ err: error }, 'a receipt was not acknowledged');
    });
    this.inWork.add(work);
    void work.then(() => this.inWork.delete(work));
  }

  private async take(channel: Channel, message: ConsumeMessage, over: AbortSignal): Promise<void> {
    const read = receiptOf(message);
    if (typeof read === 'string') {
      this.told('malformed', { message_id: String(message.properties.messageId) }, `a receipt ${read}`);
      return channel.ack(message);
    }
    const answer = await this.post(read, over);
    if (answer === null) return channel.nack(message);
    const facts = { execution_id: read.executionId, status: read.receipt.kind, answer };
    this.told(answer, facts, 'a receipt counts for nothing');
    channel.ack(message);
  }

  /** Null: the receipt goes back to the broker. */
  private async post(
    { executionId, token, receipt }: ReceiptMessage,
    over: AbortSignal,
  ): Promise<ReceiptAnswer | null> {
    const { receipts, hash, clock, logger } = this.options;
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await receipts.post(executionId, hash.of(token), receipt);
        if (answer !== 'unknown' || tries === UNKNOWN.tries) return answer;
      } catch (error) {
        logger.debug({ execution_id: executionId, err: error }, 'a receipt waits for the store');
        await clock.sleep(STORE_PAUSE_MS, over);
        return null;
      }
      await clock.sleep(UNKNOWN.pauseMs, over);
      if (over.aborted) return null;
    }
  }

  private told(
    answer: ReceiptAnswer | 'malformed',
    facts: Readonly<Record<string, unknown>>,
    refused: string,
  ): void {
    const { broker, metrics, logger } = this.options;
    metrics.count('mq_receipts_total', { answer });
    if (answer === 'accepted') logger.debug({ broker, ...facts }, 'a receipt was taken');
    else logger.warn({ broker, ...facts }, refused);
  }
}

/** What `promise` gives, or null when `stop` aborts before. */
function unless<T>(stop: AbortSignal, promise: Promise<T>): Promise<T | null> {
  if (stop.aborted) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const end = () => resolve(null);
    stop.addEventListener('abort', end, { once: true });
    promise.then(resolve, reject).finally(() => stop.removeEventListener('abort', end));
  });
}
