import { type ExecutionReport } from '../../domain/execution.js';
import { type Clock } from '../../ports/clock.js';
import { type QueueMessage } from '../../ports/queue.js';
import { InProcessArrivals } from './in-process-arrivals.js';
import { InProcessLane } from './in-process-lane.js';
import { InProcessLastOutcomes } from './in-process-last-outcomes.js';
import { InProcessLines } from './in-process-lines.js';
import { InProcessRuns, type Run } from './in-process-runs.js';
import { InProcessStopBook } from './in-process-stop-book.js';

/** What the queue, claims, stops and results of one broker share. */
export class InProcessState {
  readonly runs: InProcessRuns;
  readonly lines = new InProcessLines();
  readonly stops = new InProcessStopBook();
  readonly lastOutcomes = new InProcessLastOutcomes();
  readonly messageArrivals: InProcessArrivals;
  readonly reports: InProcessLane<ExecutionReport>;
  readonly reportArrivals: InProcessArrivals;
  private readonly lanes = new Map<string, InProcessLane<QueueMessage>>();
  private orders = 0;

  constructor(
    readonly clock: Clock,
    readonly epoch: string,
  ) {
    this.runs = new InProcessRuns(clock);
    this.messageArrivals = new InProcessArrivals(clock);
    this.reports = this.newLane();
    this.reportArrivals = new InProcessArrivals(clock);
  }

  /** The lane of a pool, made when first asked for. */
  lane(pool: string): InProcessLane<QueueMessage> {
    const lane = this.lanes.get(pool) ?? this.newLane<QueueMessage>();
    this.lanes.set(pool, lane);
    return lane;
  }

  allLanes(): ReadonlyMap<string, InProcessLane<QueueMessage>> {
    return this.lanes;
  }

  /** Messages over all pools. */
  depth(): number {
    let depth = 0;
    for (const lane of this.lanes.values()) depth += lane.size;
    return depth;
  }

  /** Hands out from the head of a task's line while there is room. */
  advance(taskId: string): void {
    let place = this.runs.countMarks(taskId);
    for (const waiter of [...this.lines.of(taskId)]) {
      const run = this.runs.find(waiter);
      if (run?.id !== waiter.id || (run.state !== 'waiting' && run.state !== 'queued'))
        this.lines.leave(waiter);
      else if (place >= (run.limit ?? 1)) return;
      else {
        this.handOut(run);
        place += 1;
      }
    }
  }

  /** Puts the message of a run that waits into its pool's lane. */
  handOut(run: Run): void {
    if (run.state !== 'waiting' || run.message === null) return;
    run.handle = this.lane(run.pool).add(run.message);
    run.message = null;
    run.state = 'queued';
    this.messageArrivals.announce();
  }

  private newLane<T>(): InProcessLane<T> {
    return new InProcessLane(this.clock, this.epoch, () => (this.orders += 1));
  }
}
