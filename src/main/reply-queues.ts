import { type Container } from 'inversify';
import { replyQueueOf } from '../adapters/executors/mq/mq-message.js';
import { ReplyQueue } from '../adapters/executors/mq/reply-queue.js';
import { type Config } from './config.js';
import { TOKENS as T } from './tokens.js';

/** The loop that takes receipts from the reply queue of every broker that this worker knows. */
export function replyQueuesOf({ brokers, namespace }: Config, container: Container) {
  const queues = [...brokers].map(
    ([broker, url]) =>
      new ReplyQueue({
        broker,
        url,
        queue: replyQueueOf(namespace),
        receipts: container.get(T.receipts),
        hash: container.get(T.tokenHash),
        clock: container.get(T.clock),
        random: container.get(T.random),
        metrics: container.get(T.metrics),
        logger: container.get(T.logger),
      }),
  );
  return {
    run: async (stop: AbortSignal) => void (await Promise.all(queues.map((queue) => queue.run(stop)))),
  };
}
