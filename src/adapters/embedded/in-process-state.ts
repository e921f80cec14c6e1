import { type ExecutionReport } from '../../domain/execution.js';
import { type Clock } from '../../ports/clock.js';
import { type QueueMessage } from '../../ports/queue.js';
import { InProcessArrivals } from './in-process-arrivals.js';
import { InProcessLane } from './in-process-lane.js';
import { InProcessRuns } from './in-process-runs.js';

/** What the queue, claims and results of one broker share. */
export class InProcessState {
  readonly runs: InProcessRuns;
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

  /** Messages over all pools. */
  depth(): number {
    let depth = 0;
    for (const lane of this.lanes.values()) depth += lane.size;
    return depth;
  }

  private newLane<T>(): InProcessLane<T> {
    return new InProcessLane(this.clock, this.epoch, () => (this.orders += 1));
  }
}
