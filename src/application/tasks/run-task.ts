import { AxError } from '../../domain/errors.js';
import { assertParams, isBroken, type Task } from '../../domain/task.js';
import { type TriggerEvent, triggerWindow } from '../../domain/trigger.js';
import { type Json } from '../../domain/json.js';
import { type Clock } from '../../ports/clock.js';
import { type Ids } from '../../ports/ids.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Queue } from '../../ports/queue.js';
import { type TaskRepo } from '../../ports/task-repo.js';
import { type Tracer } from '../../ports/tracer.js';
import { type TriggerRepo } from '../../ports/trigger-repo.js';
import { type Actor } from '../actor.js';
import { recordTrigger } from '../trigger-span.js';
import { messageFor } from '../message-for.js';
import { runFacts, triggerFacts } from '../run-facts.js';
import { brokenTask } from './manage-tasks.js';

export interface RunRequest {
  /** Instead of the task's own params, if given. */
  readonly params?: Exclude<Json, null>;
  /** The same key for the same task makes one run. */
  readonly runKey: string | null;
}

/** Triggers a task by hand, also a disabled one. The event is recorded first and then published. */
export class RunTask {
  constructor(
    private readonly deps: {
      readonly tasks: TaskRepo;
      readonly triggers: TriggerRepo;
      readonly queue: Queue;
      readonly tracer: Tracer;
      readonly clock: Clock;
      readonly ids: Ids;
      readonly metrics: Metrics;
      readonly logger: Logger;
      readonly node: string;
    },
  ) {}

  /**
   * The event of the run; `isNew` is false when `runKey` was used before.
   * @throws AxError `not_found`, `conflict` (the stored task is broken), `unavailable`; InvalidInput on `params`.
   */
  async run(id: string, request: RunRequest, actor: Actor): Promise<{ event: TriggerEvent; isNew: boolean }> {
    const { tasks, triggers, queue, tracer, clock, metrics, logger } = this.deps;
    const task = await tasks.find(id);
    if (task === null) throw new AxError('not_found', `there is no task ${id}`);
    if (isBroken(task)) throw brokenTask(task);
    if (request.params !== undefined) assertParams(request.params);
    const planned = this.eventOf(task, request, await queue.epoch(), actor);
    const recorded = await triggers.recordManual(planned, request.runKey, {
      at: planned.firedAt,
      actor: actor.name,
      action: 'task.run',
      subject: id,
      before: null,
      after: { execution_id: planned.id, params: request.params ?? null },
    });
    if (!recorded.isNew) return recorded;
    const { event } = recorded;
    const { group } = task;
    recordTrigger(tracer, event, clock.now(), { parent: actor.traceparent, group });
    metrics.count('triggers_total', { kind: 'manual' });
    logger.info(triggerFacts(event), 'triggered');
    await this.publish(event, task);
    return recorded;
  }

  private eventOf(task: Task, request: RunRequest, queueEpoch: string, actor: Actor): TriggerEvent {
    const now = this.deps.clock.now();
    const window = triggerWindow(now, task.policy.windowSec);
    return {
      id: this.deps.ids.next(),
      taskId: task.id,
      kind: 'manual',
      slot: now,
      windowStart: window.start,
      windowEnd: window.end,
      firedAt: now,
      node: this.deps.node,
      isMisfire: false,
      rangeEnd: null,
      traceparent: this.deps.tracer.start(actor.traceparent),
      queueEpoch,
      ...(request.params === undefined ? {} : { params: request.params }),
    };
  }

  /** A failure here loses nothing: the event is recorded, and recovery publishes it. */
  private async publish(event: TriggerEvent, task: Task): Promise<void> {
    try {
      await this.deps.queue.publish([messageFor(event, task, 0, this.deps.clock.now(), event.queueEpoch)]);
    } catch (error) {
      this.deps.logger.warn({ ...runFacts(event), err: error }, 'manual run recorded, not published yet');
    }
  }
}
