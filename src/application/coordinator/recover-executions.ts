import { type ExecutionReport, isTerminal } from '../../domain/execution.js';
import { isBroken } from '../../domain/task.js';
import { type Clock } from '../../ports/clock.js';
import { type ExecutionRepo, type UnsettledExecution } from '../../ports/execution-repo.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Queue, type QueueMessage, type RunState } from '../../ports/queue.js';
import { type Results } from '../../ports/results.js';
import { countEnded } from '../count-ended.js';
import { messageFor } from '../message-for.js';
import { owing } from '../owing.js';
import { runFacts } from '../run-facts.js';
import { coordinatorVerdict, duplicateVerdict } from './coordinator-verdict.js';
import { type Leadership } from './leadership.js';
import { forgetUnstarted, UnstartedRuns } from './unstarted-runs.js';

const PAGE = 500;
/** Results that wait longer than this could belong to runs that the queue has forgotten; then nothing is judged. */
const MAX_RESULTS_AGE_MS = 10 * 60_000;

/**
 * Finds executions that the queue knows nothing of and settles them. An execution gets there when the coordinator died between
 * commit and publish, or when the queue lost its data. Its states and verdicts:
 *   never taken for sure (still pending, same queue epoch) → publish again;
 *   task idempotent → publish again, with claims above the last generation;
 *   task not idempotent, may have been taken → `fail` / `outcome_unknown`, never run again;
 *   task deleted meanwhile → `skipped` / `deleted`, or `outcome_unknown` if it may have run;
 *   slot taken by another event in the queue → `skipped` / `duplicate`.
 * What the queue still knows is left to the queue: live claims renew themselves, dead ones are reclaimed by workers, those that wait in
 * the line of their task get their turn (see `oneOfEachLine`). After the queue has
 * lost its data, live workers assert their claims again; so nothing that may be running is judged before `settleMs` of a new epoch.
 */
export class RecoverExecutions {
  /** The queue's epoch, and since when this node has seen it, monotonic ms. */
  private seen = { epoch: '', since: 0 };

  constructor(
    private readonly deps: {
      readonly leadership: Leadership;
      readonly executions: ExecutionRepo;
      readonly queue: Queue;
      readonly results: Results;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
    },
    private readonly options: {
      readonly node: string;
      readonly sweepMs: number;
      /** Executions with a younger last report are left alone. */
      readonly graceMs: number;
      /** At least the life of a claim. */
      readonly settleMs: number;
    },
  ) {}

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await this.sweep();
      } catch (error) {
        forgetUnstarted(this.deps.metrics);
        this.deps.logger.error({ err: error }, 'recovery sweep failed, trying again');
      }
      await this.deps.clock.sleep(this.options.sweepMs, stop);
    }
  }

  /** One pass over everything unsettled; does nothing unless this node leads. */
  async sweep(): Promise<void> {
    const { leadership, executions, results, metrics, clock } = this.deps;
    if (!leadership.isCurrent()) return;
    await this.currentEpoch();
    const { oldestAgeMs } = await results.backlog();
    if (oldestAgeMs > MAX_RESULTS_AGE_MS) return forgetUnstarted(metrics);
    const updatedBefore = clock.now() - this.options.graceMs;
    await executions.adoptPending(updatedBefore);
    const unstarted = new UnstartedRuns();
    let afterId: string | null = null;
    do {
      const page = await executions.unsettled({ updatedBefore, afterId, limit: PAGE });
      await this.settle(page, unstarted);
      afterId = page.length < PAGE ? null : (page.at(-1)?.execution.event.id ?? null);
    } while (afterId !== null && leadership.isCurrent());
    if (leadership.isCurrent()) unstarted.tell(metrics, clock.now());
  }

  private async currentEpoch(): Promise<string> {
    const epoch = await this.deps.queue.epoch();
    if (epoch !== this.seen.epoch) this.seen = { epoch, since: this.deps.clock.monotonicMs() };
    return epoch;
  }

  private async settle(page: readonly UnsettledExecution[], unstarted: UnstartedRuns): Promise<void> {
    if (page.length === 0) return;
    const { queue, executions, metrics, clock, logger } = this.deps;
    const states = await queue.states(page.map(({ execution }) => execution.event));
    const epoch = await this.currentEpoch(); // Asked after the states, so that what they do not know was not lost in this epoch.
    const messages = this.oneOfEachLine(page, states, epoch);
    const reports: ExecutionReport[] = [];
    for (const [i, unsettled] of page.entries()) {
      unstarted.note(unsettled, states[i]);
      if (states[i] !== 'unknown') continue;
      const decision = this.decide(withOwnTask(unsettled), epoch, clock.now());
      if (decision === null) continue;
      if ('event' in decision) messages.push({ ...decision, isRepublished: true });
      else reports.push(decision);
    }
    const outcomes = messages.length === 0 ? [] : await queue.publish(messages);
    for (const [i, message] of messages.entries()) {
      if (outcomes[i] === 'added') {
        metrics.count('republished_total', {});
        reports.push(this.republished(message, page));
      } else if (outcomes[i] === 'duplicate') {
        metrics.count('duplicates_prevented_total', { line: 'slot_lock' });
        reports.push(owing(duplicateVerdict(message.event, clock.now(), this.options.node), message.task));
      }
    }
    if (reports.length > 0) await executions.apply(reports);
    for (const report of reports) {
      const { executionId, status, reason, entry } = report;
      const found = page.find(({ execution }) => execution.event.id === executionId);
      if (isTerminal(status)) countEnded(metrics, report, found && withOwnTask(found).task?.group);
      const ids = found === undefined ? {} : runFacts(found.execution.event);
      logger.warn({ ...ids, status, reason }, `recovered: ${entry.kind}`);
    }
  }

  /** Of every task with runs that wait their turn, one of them: publishing it hands out what has room, should nothing else do so. */
  private oneOfEachLine(
    page: readonly UnsettledExecution[],
    states: readonly RunState[],
    epoch: string,
  ): QueueMessage[] {
    const lines = new Map<string, QueueMessage>();
    for (const [i, unsettled] of page.entries()) {
      const { execution, task } = withOwnTask(unsettled);
      const { event, generation } = execution;
      if (states[i] !== 'waiting' || task === null || isBroken(task)) continue;
      lines.set(event.taskId, messageFor(event, task, generation, this.deps.clock.now(), epoch));
    }
    return [...lines.values()];
  }

  /** A message to publish, a verdict to record, or null to wait: for its worker, or for an owner to mend a task whose run never began. */
  private decide(
    { execution, task }: UnsettledExecution,
    epoch: string,
    now: number,
  ): QueueMessage | ExecutionReport | null {
    const { event, status, generation } = execution;
    const wasNeverTaken = status === 'pending' && event.queueEpoch === epoch;
    if (wasNeverTaken && task !== null && isBroken(task)) return null;
    if (!wasNeverTaken && this.deps.clock.monotonicMs() - this.seen.since < this.options.settleMs)
      return null;
    if (task !== null && !isBroken(task) && (wasNeverTaken || task.policy.isIdempotent)) {
      return messageFor(event, task, generation, now, epoch);
    }
    const verdict = { at: now, node: this.options.node };
    if (wasNeverTaken && task === null) {
      return coordinatorVerdict(event, {
        ...verdict,
        status: 'skipped',
        reason: 'deleted',
        message: 'the task was deleted before the run was published',
      });
    }
    const report: ExecutionReport = {
      ...coordinatorVerdict(event, {
        ...verdict,
        status: 'fail',
        reason: 'outcome_unknown',
        message: `the queue lost this run, which may have begun; it is not run again (${unsafeBecause(task)})`,
      }),
      worker: execution.worker,
      attempt: execution.attempt,
      startedAt: execution.startedAt,
    };
    return task === null || isBroken(task) ? report : owing(report, task);
  }

  /** Keeps the state as it is and adds the ledger line. */
  private republished(
    { event, publishedAt }: QueueMessage,
    page: readonly UnsettledExecution[],
  ): ExecutionReport {
    const known = page.find(({ execution }) => execution.event.id === event.id)?.execution;
    return {
      executionId: event.id,
      taskId: event.taskId,
      generation: known?.generation ?? 0,
      seq: 0,
      status: 'pending',
      reason: null,
      message: null,
      worker: null,
      attempt: known?.attempt ?? 0,
      startedAt: known?.startedAt ?? null,
      finishedAt: null,
      evidence: {},
      entry: { kind: 'republished', at: publishedAt, node: this.options.node, detail: {} },
    };
  }
}

/** A task made after the event is another one that took the id; the event's own is gone. */
function withOwnTask({ task, ...rest }: UnsettledExecution): UnsettledExecution {
  const isOther = task !== null && !isBroken(task) && task.createdAt > rest.execution.event.firedAt;
  return { ...rest, task: isOther ? null : task };
}

function unsafeBecause(task: UnsettledExecution['task']): string {
  if (task === null) return 'the task was deleted';
  return isBroken(task) ? `the task cannot be read: ${task.error}` : 'the task is not idempotent';
}
