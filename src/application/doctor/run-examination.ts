import { type Diagnosis, named, ok, problem } from '../../domain/diagnosis.js';
import { type Execution } from '../../domain/execution.js';
import {
  pendingBound,
  type RecordedEvent,
  RUNNING_GRACE_MS,
  runningBound,
} from '../../domain/recorded-run.js';
import { isBroken } from '../../domain/task.js';
import { type Clock } from '../../ports/clock.js';
import { type Examination } from '../../ports/examination.js';
import { type ExecutionRepo, type UnsettledExecution } from '../../ports/execution-repo.js';

/** Executions that have not ended, the oldest ones first; more are not looked at. */
const LIMIT = 2000;

/** Executions that have not ended although `verify` says that they must have. */
export class RunExamination implements Examination {
  readonly part = 'zombie_runs';

  constructor(
    private readonly deps: {
      readonly executions: Pick<ExecutionRepo, 'unsettled' | 'find'>;
      readonly clock: Clock;
    },
  ) {}

  async examine(): Promise<Diagnosis[]> {
    const now = this.deps.clock.now();
    const request = { updatedBefore: now - RUNNING_GRACE_MS, afterId: null, limit: LIMIT };
    const zombies: string[] = [];
    for (const unsettled of await this.deps.executions.unsettled(request)) {
      if (await this.isZombie(unsettled, now)) zombies.push(nameOf(unsettled.execution));
    }
    if (zombies.length === 0) return [ok(this.part, 'every run that goes on is within its bound')];
    const fix =
      'the leader recovers what the queue has lost: see that there is one; else end a run with POST /api/executions/{id}/cancel';
    return [problem(this.part, `${zombies.length} runs had to end long ago: ${named(zombies)}`, fix)];
  }

  private async isZombie({ execution, task }: UnsettledExecution, now: number): Promise<boolean> {
    if (execution.status === 'pending') {
      if (pendingBound(recorded(execution, [])) >= now) return false;
      // Only the ledger tells what waits anew, or in the line of its task.
      const found = await this.deps.executions.find(execution.event.id);
      return found !== null && pendingBound(recorded(found.execution, found.ledger)) < now;
    }
    // How long a run of a task that is gone may be, nobody knows any more.
    if (task === null || isBroken(task)) return false;
    return runningBound(recorded(execution, []), [task.policy]) < now;
  }
}

const nameOf = ({ event, status }: Execution): string => `${event.id} of ${event.taskId} (${status})`;

const recorded = (
  { event, status, reason, attempt, startedAt }: Execution,
  ledger: NonNullable<Awaited<ReturnType<ExecutionRepo['find']>>>['ledger'],
): RecordedEvent => ({
  ...event,
  ...{ status, reason, attempt, startedAt },
  steps: ledger.map(({ kind, at, node }) => ({ kind, at, node, generation: 0, attempt: null })),
});
