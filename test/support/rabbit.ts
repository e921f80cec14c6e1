import { randomBytes } from 'node:crypto';
import { type Channel, type ChannelModel, connect, type GetMessage, type Options } from 'amqplib';
import { until } from './until.js';

const uniqueName = (what: string): string => `ax-test-${what}-${randomBytes(6).toString('hex')}`;

/** The other side of the broker for tests: makes queues and exchanges of its own and takes them away again. */
export class Rabbit {
  private readonly queues: string[] = [];
  private readonly exchanges: string[] = [];

  private constructor(
    private readonly model: ChannelModel,
    private readonly channel: Channel,
  ) {
    model.on('error', () => undefined);
    channel.on('error', () => undefined);
  }

  static async connect(url: string): Promise<Rabbit> {
    const model = await connect(url);
    return new Rabbit(model, await model.createChannel());
  }

  /** Of nothing yet. */
  nameFor(what: string): string {
    return uniqueName(what);
  }

  /** A durable queue under a name of its own. */
  async queue(options: Options.AssertQueue = {}): Promise<string> {
    const { queue } = await this.channel.assertQueue(uniqueName('queue'), { durable: true, ...options });
    this.queues.push(queue);
    return queue;
  }

  /** A durable queue of this name, which is not taken away. */
  async declare(queue: string): Promise<void> {
    await this.channel.assertQueue(queue, { durable: true });
  }

  /** A direct exchange under a name of its own, without a queue. */
  async exchange(): Promise<string> {
    const { exchange } = await this.channel.assertExchange(uniqueName('exchange'), 'direct');
    this.exchanges.push(exchange);
    return exchange;
  }

  async bind(queue: string, exchange: string, routingKey: string): Promise<void> {
    await this.channel.bindQueue(queue, exchange, routingKey);
  }

  /** The next message, acknowledged; waits for it. */
  async take(queue: string): Promise<GetMessage> {
    return until(`a message in ${queue}`, async () => {
      const message = await this.channel.get(queue, { noAck: true });
      return message === false ? null : message;
    });
  }

  /** All messages, acknowledged; their ids. */
  async drain(queue: string): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const message = await this.channel.get(queue, { noAck: true });
      if (message === false) return ids;
      ids.push(String(message.properties.messageId));
    }
  }

  async count(queue: string): Promise<number> {
    return (await this.channel.checkQueue(queue)).messageCount;
  }

  async consumers(queue: string): Promise<number> {
    return (await this.channel.checkQueue(queue)).consumerCount;
  }

  send(queue: string, content: string, options: Options.Publish = {}): void {
    this.channel.sendToQueue(queue, Buffer.from(content), options);
  }

  /** Also queues that others have made. */
  async remove(queue: string): Promise<void> {
    await this.channel.deleteQueue(queue);
  }

  async close(): Promise<void> {
    await Promise.all(this.queues.map((queue) => this.channel.deleteQueue(queue)));
    await Promise.all(this.exchanges.map((exchange) => this.channel.deleteExchange(exchange)));
    await this.model.close();
  }
}
