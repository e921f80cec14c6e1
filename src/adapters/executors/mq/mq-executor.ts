import { type Outcome } from '../../../domain/execution.js';
import { type MqExecutorSpec } from '../../../domain/executors/mq-spec.js';
import { type Clock } from '../../../ports/clock.js';
import {
  type Delivered,
  type Executor,
  type ExecutorRequest,
  type StopReason,
} from '../../../ports/executor.js';
import { type Logger } from '../../../ports/logger.js';
import { type Random } from '../../../ports/random.js';
import { stopReasonOf } from '../stop-reason.js';
import { BrokerConnection } from './broker-connection.js';
import { cancelMessage, type MqMessage, runMessage } from './mq-message.js';
import { outcomeOf } from './mq-outcome.js';
import { type Broker, Publication, type PublicationEnd } from './publication.js';
import { PublishChannels } from './publish-channels.js';

/** A cancel message that the broker has not confirmed by then is given up. */
const WITHDRAW_MS = 5000;

type MqRequest = ExecutorRequest<MqExecutorSpec>;

export interface MqExecutorOptions {
  /** AMQP URLs of the brokers that this worker knows, by the names that tasks use. */
  readonly brokers: ReadonlyMap<string, string>;
  /** Where consumers send their receipts, on the broker that the message came from. */
  readonly replyQueue: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Publishes one message per attempt to RabbitMQ, persistent, mandatory and confirmed: success, or `delivered` when a receipt is to come,
 * once the broker has it in a queue. What the broker refuses or does not confirm is a fail with its reason; `timeoutMs` covers
 * everything from the connection to the confirm. Each broker has one connection, which is opened at the first message.
 */
export class MqExecutor implements Executor<MqExecutorSpec> {
  readonly type = 'mq';
  private readonly brokers: ReadonlyMap<string, Broker>;

  constructor(private readonly options: MqExecutorOptions) {
    const { clock, random, logger } = options;
    this.brokers = new Map(
      [...options.brokers].map(([broker, url]) => {
        const purpose = 'ax messages';
        const connection = new BrokerConnection({ broker, url, purpose, clock, random, logger });
        return [broker, { connection, channels: new PublishChannels(connection) }];
      }),
    );
  }

  async execute(request: MqRequest, signal: AbortSignal): Promise<Outcome | Delivered> {
    const { clock, replyQueue } = this.options;
    const broker = this.brokers.get(request.spec.broker);
    if (broker === undefined) return this.unknownBroker(request.spec.broker);
    const message = runMessage(request, replyQueue, clock.now());
    const publication = new Publication(broker, message);
    const startedAt = clock.monotonicMs();
    const stop = () => publication.end({ kind: 'stopped', reason: stopReasonOf(signal) });
    signal.addEventListener('abort', stop, { once: true });
    const cancelDeadline = clock.schedule(request.timeoutMs, () => publication.end({ kind: 'deadline' }));
    try {
      if (signal.aborted) stop();
      else void publication.send();
      const end = await publication.ended;
      const durationMs = clock.monotonicMs() - startedAt;
      const facts = { broker: request.spec.broker, durationMs, timeoutMs: request.timeoutMs };
      // An abort that came with the confirm: aborted is never success.
      const isStopped = end.kind === 'confirmed' && signal.aborted;
      const judged: PublicationEnd = isStopped ? { kind: 'stopped', reason: stopReasonOf(signal) } : end;
      const outcome = outcomeOf(publication, judged, facts, message);
      if (outcome.status !== 'success' || request.receipt === null) return outcome;
      return { status: 'delivered', evidence: outcome.evidence };
    } finally {
      cancelDeadline();
      signal.removeEventListener('abort', stop);
    }
  }

  /** Publishes a message of type `ax.cancel` to where the attempt's went. */
  async withdraw(request: MqRequest, reason: StopReason | 'deadline'): Promise<void> {
    const { clock, logger } = this.options;
    const broker = this.brokers.get(request.spec.broker);
    if (broker === undefined) return;
    const { kind } = await this.within(WITHDRAW_MS, broker, cancelMessage(request, reason, clock.now()));
    if (kind === 'confirmed') return;
    const facts = { execution_id: request.executionId, broker: request.spec.broker, kind };
    logger.warn(facts, 'the cancel message may not have arrived');
  }

  async close(): Promise<void> {
    await Promise.all([...this.brokers.values()].map(({ connection }) => connection.close()));
  }

  private async within(ms: number, broker: Broker, message: MqMessage): Promise<PublicationEnd> {
    const publication = new Publication(broker, message);
    const cancelDeadline = this.options.clock.schedule(ms, () => publication.end({ kind: 'deadline' }));
    void publication.send();
    const end = await publication.ended;
    cancelDeadline();
    return end;
  }

  private unknownBroker(broker: string): Outcome {
    const variable = broker === 'default' ? 'AX_AMQP_URL' : `AX_AMQP_${broker.toUpperCase()}_URL`;
    const message = `this worker knows no broker "${broker}": set ${variable}`;
    return { status: 'fail', reason: 'configuration', message, evidence: { broker, duration_ms: 0 } };
  }
}
