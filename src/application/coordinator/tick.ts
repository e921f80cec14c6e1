import { type BrokenTask, type Task } from '../../domain/task.js';
import { type Clock } from '../../ports/clock.js';
import { type ExecutionRepo } from '../../ports/execution-repo.js';
import { type Ids } from '../../ports/ids.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Queue, type QueueMessage } from '../../ports/queue.js';
import { type Tracer } from '../../ports/tracer.js';
import { type DecidedBatch, type TriggerOutcome, type TriggerRepo } from '../../ports/trigger-repo.js';
import { countEnded, taskLabels } from '../count-ended.js';
import { messageFor } from '../message-for.js';
import { owing } from '../owing.js';
import { runFacts, triggerFacts } from '../run-facts.js';
import { Backlog } from './backlog.js';
import { duplicateVerdict } from './coordinator-verdict.js';
import { decideBatch } from './decide-batch.js';
import { type FillOutcomes } from './fill-outcomes.js';
import { type Leadership } from './leadership.js';
import { recordTrigger } from '../trigger-span.js';

/** Most due rows of one turn. */
export const BATCH_LIMIT = 1000;
/** A batch of costly schedules is decided in parts, so that it never outlasts the lease. */
const DECIDE_MS = 500;
/** How soon to look again for rows that another transaction holds: of an edit, or of a coordinator that stands still. */
const HELD_ROWS_MS = 20;

export interface TickOptions {
  readonly node: string;
  /** Longest sleep between turns. */
  readonly tickMs: number;
  /** Dispatch stops while the queue holds more messages than this. */
  readonly queueLimit: number;
}

/** The due tasks of a turn and what was decided of them. */
interface Seen {
  readonly due: readonly (Task | BrokenTask)[];
  readonly decided: DecidedBatch;
}

/**
 * One turn of the scheduler: check leadership, decide what is due in one transaction, publish it, say how long to sleep.
 * Invariants: nothing is decided without a lease renewed in this very turn; events are committed before they are published; events
 * committed and not published yet go first in the next turn, and nothing new is decided until they are out.
 */
export class Tick {
  private unpublished: QueueMessage[] = [];
  private readonly backlog: Backlog;

  constructor(
    private readonly deps: {
      readonly leadership: Leadership;
      readonly triggers: TriggerRepo;
      readonly executions: ExecutionRepo;
      readonly queue: Queue;
      readonly fillOutcomes: Pick<FillOutcomes, 'ensure'>;
      readonly clock: Clock;
      readonly ids: Ids;
      readonly tracer: Tracer;
      readonly metrics: Metrics;
      readonly logger: Logger;
    },
    private readonly options: TickOptions,
  ) {
    this.backlog = new Backlog(deps.queue);
  }

  /** Ms until the next turn; 0 to go on at once. @throws AxError `unavailable`; the turn can be repeated safely. */
  async turn(): Promise<number> {
    const { leadership, triggers, queue, clock } = this.deps;
    const lease = await leadership.ensure();
    if (!lease.isLeader) {
      this.unpublished = []; // By the time that this node leads again, recovery has settled them.
      await triggers.nextDueAt(); // A standby that cannot read the store is not ready to take over, and must say so.
      return Math.min(this.options.tickMs, lease.retryInMs);
    }
    const epoch = await queue.epoch();
    this.forgetPublishedBefore(epoch);
    await this.deps.fillOutcomes.ensure(epoch);
    await this.publish();
    if (await this.isQueueFull()) return this.options.tickMs;
    const askedAt = clock.now();
    const outcome = await this.decide(epoch);
    await this.settle(outcome);
    if (outcome.dueCount >= BATCH_LIMIT) return 0;
    const nextDueAt = (await triggers.nextDueAt()) ?? Infinity;
    if (outcome.dueCount === 0 && nextDueAt <= askedAt) return HELD_ROWS_MS;
    return Math.max(0, Math.min(this.options.tickMs, nextDueAt - clock.now()));
  }

  private async isQueueFull(): Promise<boolean> {
    const { queue, metrics, logger } = this.deps;
    const depth = await queue.depth();
    const isFull = depth > this.options.queueLimit;
    metrics.gauge('dispatch_paused', {}, isFull ? 1 : 0);
    const facts = { queue_depth: depth, queue_limit: this.options.queueLimit };
    if (isFull) logger.warn(facts, 'queue too deep, dispatch waits');
    return isFull;
  }

  private async decide(queueEpoch: string): Promise<TriggerOutcome> {
    const { leadership, triggers, clock, ids, tracer, metrics, logger } = this.deps;
    await this.backlog.refresh();
    const startedAt = clock.monotonicMs();
    const now = clock.now();
    const hasTime = () => clock.monotonicMs() - startedAt < DECIDE_MS;
    const context = { now, node: this.options.node, queueEpoch, ids, tracer, backlog: this.backlog, hasTime };
    let seen: Seen | null = null;
    let isOurs = true;
    const outcome = await triggers.decideDue(
      { now, limit: BATCH_LIMIT, mayCommit: () => (isOurs = leadership.isCurrent()) },
      (due) => {
        const decided = decideBatch(due, context);
        seen = { due, decided };
        return decided;
      },
    );
    metrics.observe('scan_duration_seconds', {}, (clock.monotonicMs() - startedAt) / 1000);
    if (!isOurs) logger.warn({ due: outcome.dueCount }, 'lease ended while deciding, nothing was decided');
    else if (seen !== null) this.tell(seen, outcome);
    return outcome;
  }

  private tell({ due, decided }: Seen, outcome: TriggerOutcome): void {
    const { metrics, logger, tracer, clock } = this.deps;
    const now = clock.now();
    this.backlog.note(outcome.recorded, decided.advances);
    for (const { event, task } of outcome.recorded) {
      recordTrigger(tracer, event, now, { group: task.group });
      metrics.count('triggers_total', { kind: event.kind });
      const lateness = Math.max(0, event.firedAt - event.windowStart) / 1000;
      metrics.observe('trigger_lateness_seconds', taskLabels(task), lateness, event.traceparent);
      if (event.isMisfire) metrics.count('misfires_total', { policy: task.policy.misfirePolicy });
      logger.info(triggerFacts(event), 'triggered');
    }
    const refused = new Set(outcome.duplicates);
    for (const event of refused) {
      metrics.count('duplicates_prevented_total', { line: 'unique_key' });
      logger.warn(triggerFacts(event), 'slot was triggered before, duplicate refused');
    }
    for (const { event, report } of decided.skipped.filter((skip) => !refused.has(skip.event))) {
      const { slots } = report.entry.detail;
      const reason = report.reason ?? 'none';
      const group = due.find(({ id }) => id === event.taskId)?.group;
      recordTrigger(tracer, event, now, { group, skip: report });
      metrics.count('slots_skipped_total', { reason }, typeof slots === 'number' ? slots : 1);
      countEnded(metrics, report, group);
      const facts = { ...runFacts(event), ...report.entry.detail };
      if (reason === 'calendar') logger.info(facts, 'slots left out by the calendar');
      else logger.warn(facts, 'missed slots skipped');
    }
    for (const { taskId, error } of decided.errors) {
      metrics.count('task_errors_total', {});
      logger.error({ task_id: taskId, error }, 'task cannot be triggered as stored');
    }
  }

  private async settle(outcome: TriggerOutcome): Promise<void> {
    const publishedAt = this.deps.clock.now();
    this.unpublished = outcome.recorded.map(({ event, task }) =>
      messageFor(event, task, 0, publishedAt, event.queueEpoch),
    );
    if (this.unpublished.length > 0)
      this.deps.metrics.observe('dispatch_batch_size', {}, this.unpublished.length);
    await this.publish();
  }

  /** A publish that failed may have taken effect. If the queue has lost its data since, only recovery can judge who may run again. */
  private forgetPublishedBefore(epoch: string): void {
    const kept = this.unpublished.filter(({ event }) => event.queueEpoch === epoch);
    const left = this.unpublished.length - kept.length;
    if (left > 0) this.deps.logger.warn({ events: left }, 'the queue lost its data, events left to recovery');
    this.unpublished = kept;
  }

  private async publish(): Promise<void> {
    if (this.unpublished.length === 0) return;
    const outcomes = await this.deps.queue.publish(this.unpublished);
    const refused = this.unpublished.filter((_, i) => outcomes[i] === 'duplicate');
    this.unpublished = [];
    if (refused.length > 0) await this.endDuplicates(refused);
  }

  private async endDuplicates(refused: readonly QueueMessage[]): Promise<void> {
    const { executions, metrics, logger, clock } = this.deps;
    metrics.count('duplicates_prevented_total', { line: 'slot_lock' }, refused.length);
    const reports = refused.map(({ event, task }) =>
      owing(duplicateVerdict(event, clock.now(), this.options.node), task),
    );
    for (const { event } of refused) logger.warn(runFacts(event), 'slot is in the queue, duplicate refused');
    try {
      await executions.apply(reports);
      for (const [i, report] of reports.entries()) countEnded(metrics, report, refused[i]?.task.group);
    } catch (error) {
      logger.error({ err: error }, 'duplicates not recorded, recovery will');
    }
  }
}
