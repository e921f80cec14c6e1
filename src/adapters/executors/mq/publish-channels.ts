import { type ChannelModel } from 'amqplib';
import { type BrokerConnection } from './broker-connection.js';
import { PublishChannel } from './publish-channel.js';

/** Messages on their way to one broker at a time, far below the 2047 channels that a broker allows a connection. */
const MOST_CHANNELS = 64;

/** The channels of one connection. Each is lent to one attempt at a time and kept for the next; who finds none free waits in turn. */
export class PublishChannels {
  private free = MOST_CHANNELS;
  private readonly waiting = new Set<() => void>();
  private idle: PublishChannel[] = [];
  private idleOf: ChannelModel | null = null;

  constructor(private readonly connection: BrokerConnection) {}

  /**
   * A channel that may publish now: the connection is open, and the broker takes messages. To be given back or discarded.
   * Null if `signal` aborted while it waited for its turn or for the broker.
   * @throws AxError `unavailable` without a connection; else as the driver does.
   */
  async take(signal: AbortSignal): Promise<PublishChannel | null> {
    if (!(await this.turn(signal))) return null;
    try {
      const channel = await this.obtain(signal);
      if (channel === null) this.end();
      return channel;
    } catch (error) {
      this.end();
      throw error;
    }
  }

  giveBack(channel: PublishChannel): void {
    if (channel.isOpen) this.idle.push(channel);
    this.end();
  }

  /** Its turn goes on until the channel is closed, so that the broker never sees more of them. */
  discard(channel: PublishChannel): void {
    channel.discard();
    void channel.gone.then(() => this.end());
  }

  private async obtain(signal: AbortSignal): Promise<PublishChannel | null> {
    while (!signal.aborted) {
      const model = await this.connection.open();
      if (this.connection.blockedBy !== null) {
        await this.connection.whenUnblocked(signal);
        continue;
      }
      if (this.idleOf !== model) this.idle = [];
      this.idleOf = model;
      const kept = this.idle.pop();
      if (kept === undefined) return PublishChannel.open(model, this.connection);
      if (kept.isOpen) return kept;
    }
    return null;
  }

  /** Waits for a turn, first come, first served; false if `signal` aborted before. */
  private turn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.free > 0) {
      this.free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (hasTurn: boolean) => {
        this.waiting.delete(go);
        signal.removeEventListener('abort', leave);
        resolve(hasTurn);
      };
      const go = () => settle(true);
      const leave = () => settle(false);
      this.waiting.add(go);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  private end(): void {
    const [next] = this.waiting;
    if (next === undefined) this.free += 1;
    else next();
  }
}
