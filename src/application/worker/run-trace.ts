import { type ExecutionReport, isNotable, type Outcome } from '../../domain/execution.js';
import { type ClaimAnswer, type PreviousClaim } from '../../ports/claims.js';
import { type Clock } from '../../ports/clock.js';
import { type QueueMessage } from '../../ports/queue.js';
import { type SpanFacts, type SpanTimes, stopwatch, type Tracer } from '../../ports/tracer.js';
import { runFacts } from '../run-facts.js';
import { failureOf, traced } from '../traced.js';

interface RunTraceDeps {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly worker: string;
}

type Processing = Pick<PreviousClaim, 'generation' | 'worker'>;

/**
 * What one worker tells of one run: a span from the taking of its message to its end, and one for each step in between. The context of the
 * run's span follows from its claim, so a later claim can name it as the one it goes on from. A worker that was lost tells nothing of its
 * own: whoever takes the run over tells of it, so that every step has the one that it is part of.
 */
export class RunTrace {
  /** Ids for log lines. */
  readonly facts: ReturnType<typeof runFacts>;
  /** Of the run in this worker; before it is claimed, that of its message. */
  context: string;
  private readonly sent: string;
  private readonly times: () => SpanTimes;
  private readonly links: string[] = [];
  private generation = 0;

  constructor(
    private readonly deps: RunTraceDeps,
    private readonly message: QueueMessage,
  ) {
    this.facts = runFacts(message.event);
    this.sent = message.traceparent ?? message.event.traceparent;
    this.context = this.sent;
    this.times = stopwatch(deps.clock);
  }

  /** The queue has answered: with a claim the run's own span begins, at the taking of the message. */
  claimed(answer: ClaimAnswer): void {
    const { tracer, worker } = this.deps;
    if (answer.outcome === 'claimed') {
      const { claim, previous } = answer;
      this.generation = claim.generation;
      this.context = this.contextOf(claim.generation);
      if (previous !== null) this.takeOver(previous);
      else if (this.message.generationFloor > 0)
        this.links.push(this.contextOf(this.message.generationFloor));
    }
    const parent = this.context;
    tracer.record(tracer.child(parent), this.times, () => ({
      name: 'claim',
      kind: 'internal',
      parent,
      attributes: { 'ax.claim.outcome': answer.outcome, 'ax.worker': worker },
    }));
  }

  /** One attempt; `run` gets its context. */
  attempt(attempt: number, isResumed: boolean, run: (context: string) => Promise<Outcome>): Promise<Outcome> {
    return this.step('attempt', run, (outcome) => {
      if (outcome.status !== 'success') this.deps.tracer.keep(this.context);
      return {
        attributes: {
          'ax.attempt': attempt,
          'ax.attempt.resumed': isResumed || undefined,
          'ax.status': outcome.status,
          'ax.reason': outcome.reason ?? undefined,
        },
        error: failureOf(outcome),
      };
    });
  }

  /** A step of the run, or of the step whose context is `parent`. */
  step<T>(
    name: string,
    run: (context: string) => Promise<T>,
    tell: Parameters<typeof traced<T>>[1]['tell'],
    parent = this.context,
  ): Promise<T> {
    return traced(this.deps, { name, parent, run, tell });
  }

  /** The run has left this worker with this report. */
  ended(report: ExecutionReport): void {
    const { tracer } = this.deps;
    if (isNotable(report)) tracer.keep(this.context);
    tracer.record(this.context, this.times, () => this.told(report));
    tracer.forget(this.context);
  }

  /** The run belongs to another worker, which tells of it. */
  lost(): void {
    this.deps.tracer.keep(this.context);
    this.deps.tracer.forget(this.context);
  }

  private takeOver(previous: PreviousClaim): void {
    const { tracer } = this.deps;
    const times = () => ({ startedAt: this.message.publishedAt, endedAt: this.times().startedAt });
    const context = this.contextOf(previous.generation);
    this.links.push(context);
    if (previous.isHandedBack) return;
    tracer.keep(context);
    tracer.record(context, times, () => ({
      ...this.process(previous),
      error: { type: 'worker_lost', message: `worker ${previous.worker} was lost` },
    }));
  }

  private told(report: ExecutionReport): SpanFacts {
    const { generation, deps } = this;
    return {
      ...this.process({ generation, worker: deps.worker }, report),
      error: failureOf(report),
      links: this.links,
    };
  }

  private process({ generation, worker }: Processing, report?: ExecutionReport): SpanFacts {
    const { event, task, isRepublished, publishedAt } = this.message;
    return {
      name: `process ${task.pool}`,
      kind: 'consumer',
      parent: this.sent,
      attributes: {
        'messaging.system': 'ax',
        'messaging.operation.type': 'process',
        'messaging.operation.name': 'process',
        'messaging.destination.name': task.pool,
        'messaging.message.id': event.id,
        'ax.task.id': event.taskId,
        'ax.task.group': task.group,
        'ax.execution.id': event.id,
        'ax.worker': worker,
        'ax.claim.generation': generation,
        'ax.republished': isRepublished,
        'ax.queue.delay_ms': report && Math.max(0, this.times().startedAt - publishedAt),
        'ax.status': report?.status,
        'ax.reason': report?.reason ?? undefined,
        'ax.attempts': report?.attempt,
        'ax.slow': (report !== undefined && 'slow_after_sec' in report.evidence) || undefined,
      },
    };
  }

  private contextOf(generation: number): string {
    return this.deps.tracer.child(this.sent, `${this.message.event.id}/${generation}`);
  }
}
