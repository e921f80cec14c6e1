import { type ChannelModel, type ConfirmChannel } from 'amqplib';
import { type BrokerConnection } from './broker-connection.js';
import { type MqMessage } from './mq-message.js';

/** What the broker made of a message. */
export type PublishResult =
  | { readonly kind: 'confirmed' }
  /** `text` of the broker. */
  | { readonly kind: 'unroutable'; readonly text: string }
  | { readonly kind: 'nacked' }
  /** Never sent: the driver refused it, or the channel was gone. */
  | { readonly kind: 'unsent'; readonly error: unknown }
  /** The broker closed this channel, and only this one. */
  | { readonly kind: 'channel_closed'; readonly error: Error }
  | { readonly kind: 'connection_lost'; readonly error: Error };

/**
 * A confirming channel with at most one message on its way. A refused message costs the channel (an unknown exchange closes it), and
 * with it every other message on it; so no two attempts share one at a time.
 */
export class PublishChannel {
  isOpen = true;
  /** Resolves when the channel is gone, by whatever cause. */
  readonly gone: Promise<void>;
  /** Why the broker closed it; null while it has not. */
  private closedBy: Error | null = null;
  private returned: string | null = null;

  private constructor(
    private readonly channel: ConfirmChannel,
    private readonly connection: BrokerConnection,
  ) {
    channel.on('error', (error) => (this.closedBy = error));
    this.gone = new Promise((resolve) => {
      channel.on('close', () => {
        this.isOpen = false;
        resolve();
      });
    });
    channel.on('return', ({ fields }) => {
      const { replyCode, replyText } = fields as unknown as { replyCode: number; replyText: string };
      this.returned = `${replyCode} ${replyText}`;
    });
  }

  /** Rejects as the driver does. */
  static async open(model: ChannelModel, connection: BrokerConnection): Promise<PublishChannel> {
    return new PublishChannel(await model.createConfirmChannel(), connection);
  }

  /** To be called only when the message before has its result. */
  async publish({ exchange, routingKey, body, options }: MqMessage): Promise<PublishResult> {
    this.returned = null;
    let error: unknown;
    try {
      error = await new Promise((resolve) =>
        this.channel.publish(exchange, routingKey, body, options, resolve),
      );
    } catch (refused) {
      return { kind: 'unsent', error: refused };
    }
    // A return always comes before the confirm of its message.
    if (error === null) {
      return this.returned === null ? { kind: 'confirmed' } : { kind: 'unroutable', text: this.returned };
    }
    if (this.isOpen) return { kind: 'nacked' };
    if (this.closedBy !== null) return { kind: 'channel_closed', error: this.closedBy };
    return { kind: 'connection_lost', error: this.connection.lostBy ?? new Error('the connection was lost') };
  }

  /** Drops it, with a message on its way or not. */
  discard(): void {
    if (this.isOpen) this.channel.close().catch(() => undefined); // `gone` tells.
  }
}
