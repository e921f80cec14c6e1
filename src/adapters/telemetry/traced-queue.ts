import { type Clock } from '../../ports/clock.js';
import {
  type Delivery,
  type LaneBacklog,
  type PublishOutcome,
  type Queue,
  type QueueMessage,
  type RunState,
  type TakeRequest,
} from '../../ports/queue.js';
import { type SpanFacts, stopwatch, type Tracer } from '../../ports/tracer.js';

/**
 * A queue whose publishing is a span of each message, and which sends its context along. The first publishing of an event has a context
 * that follows from the event, so that a later one can name it.
 */
export class TracedQueue implements Queue {
  constructor(
    private readonly queue: Queue,
    private readonly deps: { readonly tracer: Tracer; readonly clock: Clock },
  ) {}

  async publish(messages: readonly QueueMessage[]): Promise<PublishOutcome[]> {
    const { clock, tracer } = this.deps;
    const stopped = stopwatch(clock);
    const sent = messages.map((message) => ({ ...message, traceparent: this.contextOf(message) }));
    const outcomes = await this.queue.publish(sent);
    const times = stopped();
    for (const [i, message] of sent.entries()) {
      const outcome = outcomes[i];
      if (outcome === 'known' || outcome === undefined) continue;
      const error = outcome === 'duplicate' ? { type: outcome, message: null } : undefined;
      tracer.record(
        message.traceparent,
        () => times,
        () => ({ ...this.told(message), error }),
      );
    }
    return outcomes;
  }

  epoch(): Promise<string> {
    return this.queue.epoch();
  }

  depth(): Promise<number> {
    return this.queue.depth();
  }

  backlog(): Promise<LaneBacklog[]> {
    return this.queue.backlog();
  }

  states(keys: Parameters<Queue['states']>[0]): Promise<RunState[]> {
    return this.queue.states(keys);
  }

  take(request: TakeRequest): Promise<Delivery[]> {
    return this.queue.take(request);
  }

  giveBack(deliveries: readonly Delivery[]): Promise<void> {
    return this.queue.giveBack(deliveries);
  }

  private contextOf({ event, isRepublished }: QueueMessage): string {
    return isRepublished === true
      ? this.deps.tracer.child(event.traceparent)
      : this.firstContext(event.id, event.traceparent);
  }

  private firstContext(id: string, traceparent: string): string {
    return this.deps.tracer.child(traceparent, `publish/${id}`);
  }

  private told({ event, task, isRepublished }: QueueMessage): SpanFacts {
    return {
      name: `publish ${task.pool}`,
      kind: 'producer',
      parent: event.traceparent,
      attributes: {
        'messaging.system': 'ax',
        'messaging.operation.type': 'send',
        'messaging.operation.name': 'publish',
        'messaging.destination.name': task.pool,
        'messaging.message.id': event.id,
        'ax.task.id': event.taskId,
        'ax.execution.id': event.id,
        'ax.republished': isRepublished,
      },
      links: isRepublished === true ? [this.firstContext(event.id, event.traceparent)] : [],
    };
  }
}
