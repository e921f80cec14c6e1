import { type Delivery, type Queue } from '../../src/ports/queue.js';
import { type Results } from '../../src/ports/results.js';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { type Chance } from './chance.js';

const KEPT = 20;

/** While it is on, messages are handed out in any order, and again to others. */
export class Copier {
  isOn = false;
  private readonly deliveries: Delivery[] = [];
  private readonly reports: ExecutionReport[] = [];

  constructor(private readonly chance: Chance) {}

  queue(queue: Queue): Queue {
    return {
      epoch: () => queue.epoch(),
      publish: (messages) => queue.publish(messages),
      depth: () => queue.depth(),
      backlog: () => queue.backlog(),
      states: (keys) => queue.states(keys),
      giveBack: (deliveries) => queue.giveBack(deliveries),
      take: async (request) => this.mixed(await queue.take(request), this.deliveries, request.max),
    };
  }

  results(results: Results): Results {
    return {
      acknowledge: (batch) => results.acknowledge(batch),
      backlog: () => results.backlog(),
      take: async (request) => {
        const { reports, handles } = await results.take(request);
        return { handles, reports: this.mixed(reports, this.reports, request.max) };
      },
    };
  }

  /** What was taken, and up to `max` together some of what was taken before. */
  private mixed<T>(taken: readonly T[], kept: T[], max: number): T[] {
    if (!this.isOn) return [...taken];
    const again = this.chance.shuffled(kept).slice(0, Math.min(this.chance.int(0, 3), max - taken.length));
    kept.push(...taken);
    kept.splice(0, kept.length - KEPT);
    return this.chance.shuffled([...taken, ...again]);
  }
}
