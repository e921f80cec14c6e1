import { type StopReason } from '../../../ports/executor.js';
import { type BrokerConnection } from './broker-connection.js';
import { type MqMessage } from './mq-message.js';
import { type PublishResult } from './publish-channel.js';
import { type PublishChannels } from './publish-channels.js';

/** One broker as its publishers see it. */
export interface Broker {
  readonly connection: BrokerConnection;
  readonly channels: PublishChannels;
}

export type PublicationEnd =
  PublishResult | { readonly kind: 'deadline' } | { readonly kind: 'stopped'; readonly reason: StopReason };

/**
 * One message on its way: `waiting` (for connection, broker and channel) → `sent` → the broker's answer. The first `end` decides and is
 * never overwritten, whether it comes from the broker or from outside (`deadline`, `stopped`).
 */
export class Publication {
  phase: 'waiting' | 'sent' = 'waiting';
  readonly ended: Promise<PublicationEnd>;
  private readonly over = new AbortController();
  private resolve!: (how: PublicationEnd) => void;

  constructor(
    private readonly broker: Broker,
    private readonly message: MqMessage,
  ) {
    this.ended = new Promise((resolve) => (this.resolve = resolve));
  }

  /** Whether the broker, as far as this node knows, may have or get the message although it has not confirmed it. */
  get mayHaveArrived(): boolean {
    return this.phase === 'sent';
  }

  get isBlocked(): boolean {
    return this.broker.connection.blockedBy !== null;
  }

  end(how: PublicationEnd): void {
    this.over.abort();
    this.resolve(how);
  }

  /** To be called once. */
  async send(): Promise<void> {
    try {
      const { replyTo } = this.message.options;
      if (replyTo !== undefined) await this.broker.connection.declare(replyTo);
      await this.publish();
    } catch (error) {
      this.end({ kind: 'unsent', error });
    }
  }

  private async publish(): Promise<void> {
    const { channels } = this.broker;
    const channel = await channels.take(this.over.signal);
    if (channel === null) return;
    if (this.over.signal.aborted) return channels.giveBack(channel);
    this.phase = 'sent';
    const drop = () => channels.discard(channel);
    this.over.signal.addEventListener('abort', drop, { once: true });
    const result = await channel.publish(this.message);
    if (this.over.signal.aborted) return;
    this.over.signal.removeEventListener('abort', drop);
    channels.giveBack(channel);
    if (result.kind === 'unsent') this.phase = 'waiting';
    this.end(result);
  }
}
