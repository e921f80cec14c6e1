import { InProcessBroker } from '../../src/adapters/embedded/in-process-broker.js';
import { InProcessLock } from '../../src/adapters/embedded/in-process-lock.js';
import { InProcessWakeup } from '../../src/adapters/embedded/in-process-wakeup.js';
import { type Queue } from '../../src/ports/queue.js';
import { type Results } from '../../src/ports/results.js';
import { type TriggerRepo } from '../../src/ports/trigger-repo.js';
import { BASE } from '../support/builders.js';
import { type CommitFault } from '../support/memory-store/memory-db.js';
import { MemoryExecutionRepo } from '../support/memory-store/memory-execution-repo.js';
import { MemoryTaskRepo } from '../support/memory-store/memory-task-repo.js';
import { MemoryTriggerRepo } from '../support/memory-store/memory-trigger-repo.js';
import { type Breakage, ForgivingClaims, publishingFirst, startingFromNow } from './breakage.js';
import { Callees } from './callee.js';
import { Chance } from './chance.js';
import { ClaimWatch } from './claim-watch.js';
import { Copier } from './copying-broker.js';
import { Journal } from './journal.js';
import { Machine } from './machine.js';
import { COORDINATORS, type Plan } from './plan.js';
import { VirtualTime } from './virtual-time.js';
import { WatchedStore } from './watched-store.js';

interface Broker {
  readonly queue: Queue;
  readonly results: Results;
  readonly claims: ClaimWatch;
}

/** All that the nodes of one simulation share, and the nodes. */
export class Cluster {
  readonly time = new VirtualTime(BASE);
  readonly journal = new Journal(this.time);
  readonly wakeup = new InProcessWakeup();
  readonly callees: Callees;
  readonly copier: Copier;
  readonly store: WatchedStore;
  readonly tasks: MemoryTaskRepo;
  readonly triggers: MemoryTriggerRepo;
  readonly executions: MemoryExecutionRepo;
  readonly machines = new Map<string, Machine>();
  broker: Broker;
  lock: InProcessLock;
  private readonly ofCommits: Chance;
  private queueLives = 0;
  private nodes = 0;
  private lastDecider: string | null = null;

  constructor(
    { seed, machines }: Pick<Plan, 'seed' | 'machines'>,
    private readonly breakage: Breakage | null,
  ) {
    const chance = new Chance(seed);
    this.ofCommits = chance.named('commits');
    this.store = new WatchedStore(this.time, { hasUniqueSlots: breakage !== 'no_unique_key' });
    const { db } = this.store;
    this.tasks = new MemoryTaskRepo(db);
    this.triggers = new MemoryTriggerRepo(db);
    this.executions = new MemoryExecutionRepo(db);
    this.callees = new Callees(seed);
    this.copier = new Copier(chance.named('copies'));
    this.lock = new InProcessLock(this.time);
    this.broker = this.newBroker();
    for (const name of machines) {
      const isCoordinator = COORDINATORS.some((coordinator) => coordinator === name);
      this.machines.set(name, new Machine(this, name, isCoordinator, chance.named(name)));
    }
  }

  /** The queue goes on, empty and with another epoch. */
  loseQueue(): void {
    this.broker = this.newBroker();
  }

  /** Every lease is gone; whoever held one does not know. */
  loseLock(): void {
    this.lock = new InProcessLock(this.time);
  }

  /** From now on this share of all commits fails; null: none. */
  failCommits(fault: { readonly share: number; readonly when: CommitFault } | null): void {
    this.store.db.commitFault =
      fault === null ? null : () => (this.ofCommits.is(fault.share) ? fault.when : null);
  }

  nextNode(): number {
    return (this.nodes += 1);
  }

  claimOf(executionId: string, worker: string): { readonly generation: number; readonly life: number } {
    const { claims } = this.broker;
    return { generation: claims.generationOf(executionId, worker), life: claims.life };
  }

  /** What one life of a coordinator decides through. */
  triggersFor(node: string): TriggerRepo {
    switch (this.breakage) {
      case 'publish_before_commit':
        return publishingFirst(this.triggers, () => this.broker.queue);
      case 'from_now_on_takeover':
        return startingFromNow(this.triggers, () => {
          const isTakeover = this.lastDecider !== null && this.lastDecider !== node;
          this.lastDecider = node;
          return isTakeover;
        });
      case 'no_unique_key':
      case 'no_generations':
      case null:
        return this.triggers;
    }
  }

  private newBroker(): Broker {
    const life = (this.queueLives += 1);
    const { queue, results, claims } = new InProcessBroker(this.time, `life-${life}`);
    const granted = this.breakage === 'no_generations' ? new ForgivingClaims(claims) : claims;
    return {
      queue: this.copier.queue(queue),
      results: this.copier.results(results),
      claims: new ClaimWatch(granted, this.journal, () => this.time.monotonicMs(), life),
    };
  }
}
