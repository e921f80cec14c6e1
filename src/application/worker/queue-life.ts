import { type Queue, type QueueMessage } from '../../ports/queue.js';

/**
 * Whether the queue has kept its data since a message was published. If not, its claim may have been lost with a worker that runs it: a replica
 * that was promoted without the last writes still has the message, and gives it out as if nobody had ever claimed it.
 */
export class QueueLife {
  private coming: Promise<string> | null = null;

  constructor(private readonly queue: Pick<Queue, 'epoch'>) {}

  /**
   * Ask after the claim: then every claim that was made since then is one that this queue knows, or the answer is false. Questions of
   * the same turn share one call. @throws AxError `unavailable`.
   */
  async hasLastedSince({ queueEpoch }: Pick<QueueMessage, 'queueEpoch'>): Promise<boolean> {
    this.coming ??= Promise.resolve().then(() => {
      this.coming = null;
      return this.queue.epoch();
    });
    return (await this.coming) === queueEpoch;
  }
}
