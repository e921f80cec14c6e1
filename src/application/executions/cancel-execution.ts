import { AxError } from '../../domain/errors.js';
import { type Execution, type ExecutionReport, isTerminal } from '../../domain/execution.js';
import { type BrokenTask, isBroken, type Task } from '../../domain/task.js';
import { type AuditLog } from '../../ports/audit.js';
import { type Clock } from '../../ports/clock.js';
import { type ExecutionRepo } from '../../ports/execution-repo.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { KEEP_CLOSED_MS, type Receipts } from '../../ports/receipts.js';
import { type CancelVerdicts, type Stops } from '../../ports/stops.js';
import { type TaskRepo } from '../../ports/task-repo.js';
import { type Actor } from '../actor.js';
import { countEnded } from '../count-ended.js';
import { owing } from '../owing.js';
import { runFacts } from '../run-facts.js';
import { coordinatorVerdict } from '../coordinator/coordinator-verdict.js';

/** How long a cancel waits for the end to be recorded, and how often it looks. */
const WAIT = { mostMs: 5000, everyMs: 50 };

/**
 * - `cancelled`: it has ended by being cancelled;
 * - `requested`: its worker was asked to stop, or the end is on its way to the store;
 * - `already_ended`: it had ended, or came to its own end before the stop reached it.
 */
export interface Cancellation {
  readonly result: 'cancelled' | 'requested' | 'already_ended';
  /** As it was recorded last. */
  readonly execution: Execution;
}

/**
 * Ends an execution for good, wherever it is: not published yet, queued, waiting its turn, running, between two attempts, awaiting a
 * receipt. A run that nobody runs ends here; one with a live worker is ended by that. Whichever end is recorded first stays.
 */
export class CancelExecution {
  constructor(
    private readonly deps: {
      readonly tasks: Pick<TaskRepo, 'find'>;
      readonly executions: ExecutionRepo;
      readonly stops: Stops;
      readonly receipts: Pick<Receipts, 'close'>;
      readonly audit: AuditLog;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      readonly node: string;
    },
  ) {}

  /** May be repeated. Takes up to 5 s. @throws AxError `not_found`, `unavailable`. */
  async cancel(id: string, actor: Actor): Promise<Cancellation> {
    const { tasks, stops, receipts, audit, clock, logger } = this.deps;
    const execution = await this.find(id);
    if (isTerminal(execution.status)) return { result: 'already_ended', execution };
    const { taskId, kind, slot } = execution.event;
    const before = { task_id: taskId, status: execution.status };
    await audit.append({
      at: clock.now(),
      actor: actor.name,
      action: 'execution.cancel',
      subject: id,
      before,
      after: null,
    });
    const task = await tasks.find(taskId);
    const verdicts = this.verdicts(execution, task, `cancelled by ${actor.name}`);
    const answer = await stops.cancel({ taskId, kind, slot, executionId: id }, verdicts);
    logger.info({ ...runFacts(execution.event), actor: actor.name, answer }, 'cancel');
    // No worker waits for its receipt any more, so none may be let in.
    if (answer === 'ended') await receipts.close(id, KEEP_CLOSED_MS);
    const after = await this.recorded(id);
    const isRecorded = isTerminal(after.status);
    const isCancelled = after.reason === 'cancelled';
    if (answer === 'ended' && (isCancelled || !isRecorded)) {
      const { status } = isRecorded ? after : verdicts.unbegun;
      countEnded(this.deps.metrics, { taskId, status, reason: 'cancelled' }, task?.group);
    }
    if (!isRecorded) return { result: 'requested', execution: after };
    return { result: isCancelled ? 'cancelled' : 'already_ended', execution: after };
  }

  /** The execution as it is when it has ended, or when the time to wait for that is over. */
  private async recorded(id: string): Promise<Execution> {
    const { clock } = this.deps;
    const until = clock.monotonicMs() + WAIT.mostMs;
    for (;;) {
      const execution = await this.find(id);
      if (isTerminal(execution.status) || clock.monotonicMs() >= until) return execution;
      await clock.sleep(WAIT.everyMs);
    }
  }

  private async find(id: string): Promise<Execution> {
    const found = await this.deps.executions.find(id);
    if (found === null) throw new AxError('not_found', `there is no execution ${id}`);
    return found.execution;
  }

  /** What the store knows of the run counts as begun, too, when the queue has forgotten it. */
  private verdicts(execution: Execution, task: Task | BrokenTask | null, message: string): CancelVerdicts {
    const { clock, node } = this.deps;
    const { event, worker, attempt, startedAt } = execution;
    const verdict = { reason: 'cancelled', message, at: clock.now(), node } as const;
    const begun: ExecutionReport = {
      ...coordinatorVerdict(event, { ...verdict, status: 'fail' }),
      worker,
      attempt: Math.max(1, attempt), // The first one begins with the claim, without a report of its own.
      startedAt,
    };
    const hasBegun = execution.status !== 'pending' || attempt > 0;
    const unbegun = hasBegun ? begun : coordinatorVerdict(event, { ...verdict, status: 'skipped' });
    if (task === null || isBroken(task)) return { begun, unbegun };
    return { begun: owing(begun, task), unbegun: owing(unbegun, task) };
  }
}
