import { InProcessClaims } from '../../src/adapters/embedded/in-process-claims.js';
import { InProcessLock } from '../../src/adapters/embedded/in-process-lock.js';
import { InProcessQueue } from '../../src/adapters/embedded/in-process-queue.js';
import { InProcessReceipts } from '../../src/adapters/embedded/in-process-receipts.js';
import { InProcessResults } from '../../src/adapters/embedded/in-process-results.js';
import { InProcessState } from '../../src/adapters/embedded/in-process-state.js';
import { InProcessStops } from '../../src/adapters/embedded/in-process-stops.js';
import { InProcessWakeup } from '../../src/adapters/embedded/in-process-wakeup.js';
import { type Claims } from '../../src/ports/claims.js';
import { type Queue } from '../../src/ports/queue.js';
import { type Results } from '../../src/ports/results.js';
import { type TriggerRepo } from '../../src/ports/trigger-repo.js';
import { BASE } from '../support/builders.js';
import { type CommitFault } from '../support/memory-store/memory-db.js';
import { MemoryExecutionRepo } from '../support/memory-store/memory-execution-repo.js';
import { MemoryTaskRepo } from '../support/memory-store/memory-task-repo.js';
import { MemoryTriggerRepo } from '../support/memory-store/memory-trigger-repo.js';
import {
  type Breakage,
  ForgivingClaims,
  publishingFirst,
  startingFromNow,
  withoutMarks,
} from './breakage.js';
import { Callees } from './callee.js';
import { Chance } from './chance.js';
import { type OpenCall } from './call-watch.js';
import { Copier } from './copying-broker.js';
import { replicaOf } from './failover.js';
import { Grants } from './grants.js';
import { Journal } from './journal.js';
import { Machine } from './machine.js';
import { calendarOf } from './calendars.js';
import { COORDINATORS, LEFT_OUT, type Plan } from './plan.js';
import { QueueWatch } from './queue-watch.js';
import { type Closings } from './receipt-watch.js';
import { VirtualTime } from './virtual-time.js';
import { WatchedStore } from './watched-store.js';

interface Broker {
  readonly state: InProcessState;
  readonly queue: Queue;
  readonly results: Results;
  readonly receipts: InProcessReceipts;
  readonly watch: QueueWatch;
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
  /** Longest time between two turns of a coordinator: the default, or nearly the most that the lease allows. */
  readonly tickMs: number;
  broker: Broker;
  lock: InProcessLock;
  private readonly ofCommits: Chance;
  /** Calls to targets that have not ended. */
  readonly openCalls = new Set<OpenCall>();
  private readonly grants = new Grants();
  private readonly closings: Closings = new Map();
  private queueLives = 0;
  private nodes = 0;
  private lastDecider: string | null = null;

  constructor(
    { seed, machines }: Pick<Plan, 'seed' | 'machines'>,
    readonly breakage: Breakage | null,
  ) {
    const chance = new Chance(seed);
    this.ofCommits = chance.named('commits');
    this.tickMs = chance.named('ticks').pick([1000, 1600]);
    this.store = new WatchedStore(this.time, { hasUniqueSlots: breakage !== 'no_unique_key' });
    const { db } = this.store;
    this.tasks = new MemoryTaskRepo(db);
    for (const { days } of LEFT_OUT.map(calendarOf))
      db.calendars.set(days.calendar.name, { calendar: days.calendar, isDeleted: false });
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
    this.journal.add({ kind: 'loss', text: 'is empty' });
    this.broker = this.newBroker();
  }

  /** The queue's replica, which falls behind from now on, and takes over when the function is called, unless the queue was lost before. */
  replica(): () => void {
    const { broker } = this;
    const life = (this.queueLives += 1);
    let takeOver = (): void => undefined;
    broker.watch.whenUpToDate(() => {
      const bringBack = broker.watch.remember();
      const promote = replicaOf(broker.state, broker.receipts);
      takeOver = () => {
        if (this.broker !== broker) return;
        this.journal.add({ kind: 'loss', text: 'fails over' });
        promote(this.breakage === 'no_epochs' ? broker.state.epoch : `life-${life}`);
        bringBack(life);
        for (const machine of this.machines.values()) machine.endWaits();
      };
    });
    return () => takeOver();
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

  /** The claim by which a worker runs an execution; zeros if it never had one. */
  claimOf(executionId: string, worker: string): { readonly generation: number; readonly life: number } {
    const { generation = 0, life = 0 } = this.grants.of(executionId, worker) ?? {};
    return { generation, life };
  }

  /** Whether a wait for a receipt was closed in a life of the queue that was lost since, and not opened again. */
  hasLostClosing(executionId: string): boolean {
    const { life } = this.broker.watch;
    return (this.closings.get(executionId) ?? life) !== life;
  }

  /** What one life of a coordinator decides through. */
  triggersFor(node: string, meanwhile: () => Promise<void>): TriggerRepo {
    const triggers = new MemoryTriggerRepo(this.store.db, meanwhile);
    switch (this.breakage) {
      case 'publish_before_commit':
        return publishingFirst(triggers, () => this.broker.queue);
      case 'from_now_on_takeover':
        return startingFromNow(triggers, () => {
          const isTakeover = this.lastDecider !== null && this.lastDecider !== node;
          this.lastDecider = node;
          return isTakeover;
        });
      case 'no_unique_key':
      case 'no_generations':
      case 'no_epochs':
      case 'no_marks':
      case 'no_stops':
      case null:
        return triggers;
    }
  }

  private newBroker(): Broker {
    const life = (this.queueLives += 1);
    const state = new InProcessState(this.time, `life-${life}`);
    const receipts = new InProcessReceipts(this.time);
    const ports = { claims: this.claimsOf(state), stops: new InProcessStops(state), receipts };
    const { journal, grants, closings, openCalls } = this;
    return {
      state,
      queue: this.copier.queue(new InProcessQueue(state)),
      results: this.copier.results(new InProcessResults(state)),
      receipts,
      watch: new QueueWatch(ports, life, {
        ...{ journal, grants, closings, openCalls },
        nowMs: () => this.time.monotonicMs(),
        isReachable: (worker) => this.machines.get(worker.split('.')[0] ?? '')?.isReachable ?? false,
      }),
    };
  }

  private claimsOf(state: InProcessState): Claims {
    const claims = new InProcessClaims(state);
    if (this.breakage === 'no_marks') return withoutMarks(claims);
    return this.breakage === 'no_generations' ? new ForgivingClaims(claims) : claims;
  }
}
