import { type SlotKey } from '../../domain/trigger.js';
import {
  type Delivery,
  type LaneBacklog,
  type PublishOutcome,
  type Queue,
  type QueueMessage,
  type RunState,
  type TakeRequest,
} from '../../ports/queue.js';
import { type InProcessLane } from './in-process-lane.js';
import { newRun } from './in-process-runs.js';
import { type InProcessState } from './in-process-state.js';

/** One lane per pool, and a run per slot that says which message counts. */
export class InProcessQueue implements Queue {
  constructor(private readonly state: InProcessState) {}

  async epoch(): Promise<string> {
    return this.state.epoch;
  }

  async publish(messages: readonly QueueMessage[]): Promise<PublishOutcome[]> {
    const outcomes = messages.map((message) => this.publishOne(message));
    if (outcomes.includes('added')) this.state.messageArrivals.announce();
    return outcomes;
  }

  async depth(): Promise<number> {
    return this.state.depth();
  }

  async backlog(): Promise<LaneBacklog[]> {
    return [...this.state.allLanes()].map(([lane, messages]) => ({ lane, ...messages.backlog() }));
  }

  async states(keys: readonly (SlotKey & { readonly id: string })[]): Promise<RunState[]> {
    const { runs } = this.state;
    return keys.map((key) => {
      const run = runs.find(key);
      if (run === undefined || run.id !== key.id) return 'unknown';
      if (run.state === 'finished' || run.state === 'waiting') return run.state;
      if (runs.isClaimLive(run)) return 'claimed';
      return this.state.lane(run.pool).has(run.handle) ? 'queued' : 'unknown';
    });
  }

  async take(request: TakeRequest): Promise<Delivery[]> {
    const { pools, max, reclaimAfterMs } = request;
    const lanes = pools.map((pool) => this.state.lane(pool));
    return this.state.messageArrivals.firstOf(
      () => oldestOf(lanes, max, reclaimAfterMs),
      () => Math.min(...lanes.map((lane) => lane.reclaimInMs(reclaimAfterMs))),
      request,
    );
  }

  async giveBack(deliveries: readonly Delivery[]): Promise<void> {
    const { runs, messageArrivals } = this.state;
    for (const { message, handle } of deliveries) {
      const { pool } = message.task;
      const run = runs.find(message.event);
      const counts = run?.id === message.event.id && run.pool === pool && run.handle === handle;
      if (counts && (run.state === 'finished' || run.state === 'waiting' || runs.isClaimLive(run))) continue;
      const moved = this.state.lane(pool).putBack(handle);
      if (counts) run.handle = moved;
    }
    messageArrivals.announce();
  }

  private publishOne(message: QueueMessage): PublishOutcome {
    const { runs } = this.state;
    const { event, task } = message;
    const run = runs.find(event);
    if (run !== undefined && run.id !== event.id) return 'duplicate';
    if (run?.state === 'waiting') {
      this.state.advance(event.taskId);
      return 'known';
    }
    if (run !== undefined) {
      const hasMessage = this.state.lane(run.pool).has(run.handle);
      if (run.state === 'finished' || runs.isClaimLive(run) || hasMessage) return 'known';
    }
    const handle = this.state.lane(task.pool).add(message);
    if (run !== undefined) Object.assign(run, { state: 'queued', pool: task.pool, handle });
    else runs.put(event, newRun(event.id, task.pool, handle));
    return 'added';
  }
}

/** Takes the oldest messages over all these lanes. */
function oldestOf(lanes: InProcessLane<QueueMessage>[], max: number, reclaimAfterMs: number): Delivery[] {
  const deliveries: Delivery[] = [];
  while (deliveries.length < max) {
    const orders = lanes.map((lane) => lane.nextUp(reclaimAfterMs));
    const next = lanes[orders.indexOf(Math.min(...orders))]?.take(reclaimAfterMs) ?? null;
    if (next === null) break;
    deliveries.push({ message: next.value, handle: next.handle });
  }
  return deliveries;
}
