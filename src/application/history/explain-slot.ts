import { AxError } from '../../domain/errors.js';
import { type Execution, isTerminal, type LedgerEntry } from '../../domain/execution.js';
import { localTime } from '../../domain/local-time.js';
import { type RecordedEvent } from '../../domain/recorded-run.js';
import { type BrokenTask, isBroken, type Task } from '../../domain/task.js';
import { type Era, erasOf } from '../../domain/task-history.js';
import { explainExecution } from '../../domain/why/execution-why.js';
import { explainSlot } from '../../domain/why/slot-why.js';
import {
  isKnown,
  MAX_REACH_MS,
  slotAfter,
  slotBefore,
  type Subject,
  subjectOf,
} from '../../domain/why/subject.js';
import { type LiveFacts, NOTHING_LIVE, type Why } from '../../domain/why/why.js';
import { type Clock } from '../../ports/clock.js';
import { type ExecutionRepo } from '../../ports/execution-repo.js';
import { type HistoryRepo } from '../../ports/history-repo.js';
import { type Queue } from '../../ports/queue.js';
import { type TaskRepo } from '../../ports/task-repo.js';
import { type WorkerRegistry } from '../../ports/worker-registry.js';
import { answeredSoon } from '../answered-soon.js';
import { LiveWorkers, needOf } from '../pools/live-workers.js';

/** The last instant that storage can keep. */
const LAST_INSTANT = Date.UTC(9999, 11, 31);
/** How often the store and the queue are asked again when a run moves on in between. */
const ROUNDS = 3;
/** More changes of one task are not looked at; what was before is unknown then. */
const MAX_CHANGES = 1000;

/** Where live facts come from; what does not answer within half a second is not told. */
export interface LiveSources {
  readonly queue: Pick<Queue, 'states' | 'depth'>;
  readonly registry: Pick<WorkerRegistry, 'list'>;
  /** Dispatch stops while the queue holds more messages than this. */
  readonly queueLimit: number;
}

export interface Recorded {
  readonly execution: Execution;
  readonly ledger: readonly LedgerEntry[];
}

/** The answer for one instant. Instants are epoch ms. */
export interface Explanation extends Why {
  readonly taskId: string;
  /** What was asked about. */
  readonly at: number;
  /** The zone in which the summary tells times: that of the schedule. */
  readonly timezone: string;
  /** What the event became; null: there is none. */
  readonly recorded: Recorded | null;
  /** The first slot after `at`; null: none is known. */
  readonly next: number | null;
  /** What could not be asked. */
  readonly notTold: readonly string[];
}

interface Case {
  readonly taskId: string;
  readonly at: number;
  readonly now: number;
  readonly eras: readonly Era[];
  readonly task: Task | BrokenTask | null;
}

/** Says which link of the chain the run of a task at an instant reached: from the store, and from the queue and the workers where they answer. */
export class ExplainSlot {
  constructor(
    private readonly deps: {
      readonly history: HistoryRepo;
      readonly tasks: Pick<TaskRepo, 'find'>;
      readonly executions: Pick<ExecutionRepo, 'find'>;
      readonly clock: Clock;
      /** Null: nobody to ask. */
      readonly live: LiveSources | null;
    },
  ) {}

  /**
   * `at` null: the last slot that was expected; `next` is then the first one to come.
   * @throws AxError `not_found` when there never was such a task; `unavailable` (the store).
   */
  async explain(taskId: string, at: number | null): Promise<Explanation> {
    const now = this.deps.clock.now();
    if (at !== null) return this.explainAt(taskId, at, now);
    const { slot, next } = await this.latest(taskId, now);
    const explanation = await this.explainAt(taskId, slot ?? now, now);
    return { ...explanation, next };
  }

  private async explainAt(taskId: string, at: number, now: number): Promise<Explanation> {
    // Whatever moved the cursor before it is read here has left its event to be read below.
    const slotCase = { taskId, at, now, ...(await this.taskAt(taskId, at)) };
    const subject = await this.subject(slotCase);
    return subject.kind === 'event'
      ? this.explainEvent(slotCase, subject.event.id)
      : this.explainWithout(slotCase, subject.kind === 'slot' ? subject.slot : null);
  }

  private async taskAt(taskId: string, at: number): Promise<Pick<Case, 'eras' | 'task'>> {
    const { history, tasks } = this.deps;
    const { current, changes } = await history.taskHistory(taskId, at - MAX_REACH_MS, MAX_CHANGES);
    if (
      current === 'absent' &&
      changes.length === 0 &&
      (await history.eventBefore(taskId, LAST_INSTANT)) === null
    )
      throw new AxError('not_found', `there is no task ${taskId}`);
    return { eras: erasOf(changes, current), task: await tasks.find(taskId) };
  }

  /** The last slot that an enabled task had (null: it is disabled or gone, or had none), and the first one to come. */
  private async latest(taskId: string, now: number): Promise<{ slot: number | null; next: number | null }> {
    const { eras } = await this.taskAt(taskId, now);
    const next = slotAfter(now, eras);
    const era = eras.at(-1);
    if (!isKnown(era) || !era.state.isEnabled) return { slot: null, next };
    const recorded = await this.deps.history.eventBefore(taskId, now + 1);
    const slots = [slotBefore(now, eras), recorded?.rangeEnd ?? recorded?.slot ?? null];
    const known = slots.filter((slot) => slot !== null);
    return { slot: known.length === 0 ? null : Math.max(...known), next };
  }

  /** A run by hand only if `at` is its very slot. */
  private async subject({ taskId, at, eras }: Case): Promise<Subject> {
    const { history } = this.deps;
    const subject = subjectOf(taskId, at, eras, await history.eventBefore(taskId, at + 1));
    if (slotOf(subject) === at) return subject;
    const range = { from: at, to: at, after: null, limit: 1 };
    const [manual] = await history.events({ taskId, kind: 'manual', ...range });
    return manual === undefined ? subject : { kind: 'event', event: manual };
  }

  private async explainEvent(slotCase: Case, id: RecordedEvent['id']): Promise<Explanation> {
    const { recorded, live } = await this.runOf(slotCase, id);
    const why = explainExecution({ ...recorded, say: sayOf(slotCase), live });
    const isOpen = !isTerminal(recorded.execution.status);
    return this.explanation(slotCase, why, recorded, isOpen ? notTold(live, true) : []);
  }

  /** What the store and the queue say of a run, both at a time in which the store said the same. */
  private async runOf(slotCase: Case, id: string): Promise<{ recorded: Recorded; live: LiveFacts }> {
    let recorded = await this.find(id);
    for (let round = 1; ; round++) {
      if (isTerminal(recorded.execution.status)) return { recorded, live: NOTHING_LIVE };
      const live = await this.liveFacts(slotCase, recorded.execution);
      const later = await this.find(id);
      if (round === ROUNDS || later.ledger.length === recorded.ledger.length)
        return { recorded: later, live };
      recorded = later;
    }
  }

  private async find(id: string): Promise<Recorded> {
    const recorded = await this.deps.executions.find(id);
    if (recorded === null) throw new AxError('not_found', `execution ${id} is not there any more`);
    return recorded;
  }

  private async explainWithout(slotCase: Case, slot: number | null): Promise<Explanation> {
    const { taskId, at, eras, now, task } = slotCase;
    const isDue = slot !== null && slot <= now;
    const live = isDue ? await this.liveFacts(slotCase, null) : NOTHING_LIVE;
    const taskError = task !== null && (isBroken(task) || task.error !== null) ? task.error : null;
    const why = explainSlot({ taskId, at, slot, eras, now, say: sayOf(slotCase), live, taskError });
    return this.explanation(slotCase, why, null, why.code === 'not_decided' ? notTold(live, false) : []);
  }

  private explanation(
    slotCase: Case,
    why: Why,
    recorded: Recorded | null,
    missing: readonly string[],
  ): Explanation {
    const { taskId, at, eras } = slotCase;
    const next = slotAfter(Math.max(at, why.slot ?? at), eras);
    return { ...why, taskId, at, timezone: zoneAt(slotCase), recorded, next, notTold: missing };
  }

  private async liveFacts({ task }: Case, execution: Execution | null): Promise<LiveFacts> {
    const { live, clock } = this.deps;
    if (live === null) return NOTHING_LIVE;
    const { queue, registry, queueLimit } = live;
    const [states, depth, workers] = await Promise.all([
      execution === null ? null : answeredSoon(queue.states([execution.event]), clock),
      answeredSoon(queue.depth(), clock),
      answeredSoon(registry.list(), clock),
    ]);
    const isReadable = task !== null && !isBroken(task);
    const status = workers === null || !isReadable ? null : new LiveWorkers(workers).statusOf(needOf(task));
    return {
      runState: states?.[0] ?? null,
      queue: depth === null ? null : { depth, limit: queueLimit },
      workers: status === null ? null : { live: status.liveWorkers, problem: status.problem },
      instances: workers?.map(({ instance }) => instance) ?? null,
    };
  }
}

function slotOf(subject: Subject): number | null {
  if (subject.kind === 'none') return null;
  return subject.kind === 'event' ? subject.event.slot : subject.slot;
}

const notTold = ({ runState, queue, instances }: LiveFacts, hasRun: boolean): string[] => [
  ...(hasRun && runState === null ? ['what the queue knows of the run'] : []),
  ...(queue === null ? ['how deep the queue is'] : []),
  ...(instances === null ? ['which workers live'] : []),
];

const sayOf = (slotCase: Case) => {
  const zone = zoneAt(slotCase);
  return (instant: number) => localTime(instant, zone);
};

/** That of the definition in force then, else of the latest one that is known. */
function zoneAt({ eras, at }: Case): string {
  const known = eras.filter(isKnown);
  const { schedule } =
    (known.find(({ since, until }) => since <= at && at < until) ?? known.at(-1))?.state ?? {};
  return schedule?.type === 'cron' ? schedule.timezone : 'UTC';
}
