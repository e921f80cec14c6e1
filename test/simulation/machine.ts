import { InProcessWorkerRegistry } from '../../src/adapters/embedded/in-process-worker-registry.js';
import { ManageTasks } from '../../src/application/tasks/manage-tasks.js';
import { RunTask } from '../../src/application/tasks/run-task.js';
import { type Tracer } from '../../src/ports/tracer.js';
import { type Wakeup } from '../../src/ports/wakeup.js';
import { ClockIds } from '../support/clock-ids.js';
import { CoordinatorNode, type CoordinatorPorts } from '../support/coordinator-node.js';
import type { Link } from '../support/link.js';
import { type Queue } from '../../src/ports/queue.js';
import { type Results } from '../../src/ports/results.js';
import { type Receipts } from '../../src/ports/receipts.js';
import { CancelExecution } from '../../src/application/executions/cancel-execution.js';
import { RecordingLogger, RecordingMetrics } from '../support/recording.js';
import { WorkerNode } from '../support/worker-node.js';
import { deafToStops } from './breakage.js';
import { type Chance } from './chance.js';
import { SimulatedExecutor } from './callee.js';
import { type Cluster } from './cluster.js';
import { hearingReceipts, hearingStops } from './hearing.js';
import { NodeClock } from './node-clock.js';
import { MAX_SKEW_MS, type Side } from './plan.js';
import { Roads } from './roads.js';

/** Whoever waits for messages waits longer than in production, since most of the cost of an idle hour is asking again. */
const PATIENCE = 10;
/** Lines are short, so that they are sometimes full and never last for hours. */
const MAX_WAITING = 6;

class Deaf extends RecordingMetrics {
  override count(): void {}
  override observe(): void {}
  override gauge(): void {}
}

class Mute extends RecordingLogger {
  override debug(): void {}
  override info(): void {}
  override warn(): void {}
  override error(): void {}
}

const tracer: Tracer = {
  start: () => TRACE,
  child: () => TRACE,
  record: () => undefined,
  keep: () => undefined,
  forget: () => undefined,
};
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** A process and the machine that it runs on: its clock and its links outlast its crashes. Each life of the process has a name of its own. */
export class Machine {
  readonly clock: NodeClock;
  readonly roads: Roads;
  node: CoordinatorNode | WorkerNode | null = null;
  /** Of a coordinator that runs. */
  api: { readonly manage: ManageTasks; readonly run: RunTask; readonly cancel: CancelExecution } | null =
    null;
  /** Of the process that runs. */
  private life: string | null = null;
  private lives = 0;
  private subscriptions: (() => void)[] = [];
  /** What this life waits for at the queue ends with it, by the signal that the life itself gave. */
  private readonly waits = new Map<AbortSignal, AbortController>();
  private skewMs: number;

  constructor(
    private readonly cluster: Cluster,
    readonly name: string,
    private readonly isCoordinator: boolean,
    chance: Chance,
  ) {
    this.skewMs = chance.int(-500, 500);
    this.clock = new NodeClock(cluster.time, this.skewMs, chance.int(-50, 50));
    this.roads = new Roads(cluster.time, this.clock, chance);
  }

  /** A wall clock that jumps, but never out of the bounds that hold for all. */
  stepClock(byMs: number): void {
    const bounded = Math.abs(this.skewMs + byMs) <= MAX_SKEW_MS * 0.8 ? byMs : -byMs;
    this.skewMs += bounded;
    this.clock.step(bounded);
  }

  start(): void {
    if (this.node !== null) return;
    const life = `${this.name}.${(this.lives += 1)}`;
    this.life = life;
    const quiet = { metrics: new Deaf(), logger: new Mute() };
    this.node = this.isCoordinator ? this.coordinator(life, quiet) : this.worker(life, quiet);
    this.node.start(); // Only now, since its first call may be its last.
  }

  crash(): void {
    this.node?.crash();
    this.forget();
    this.clock.resume();
  }

  /** A graceful end; drains. */
  async stop(): Promise<void> {
    const { node } = this;
    await node?.stop();
    if (this.node === node) this.forget();
  }

  /** No fault of this machine goes on. */
  heal(): void {
    this.roads.heal();
    this.setLink('store', 'passing');
    this.setLink('redis', 'passing');
    this.clock.resume();
  }

  setLink(side: Side, state: 'passing' | 'cut' | 'mute'): void {
    const link = this.linkOf(side);
    if (link !== null && link.state !== 'dead') link.state = state;
  }

  /** What it waits for at the queue ends, as when a connection breaks. */
  endWaits(): void {
    for (const wait of this.waits.values()) wait.abort();
    this.waits.clear();
  }

  /** Whether answers of the queue come through to it. */
  get isReachable(): boolean {
    return this.linkOf('redis')?.state === 'passing' && !this.clock.isPaused && this.roads.slowMs.redis === 0;
  }

  private linkOf(side: Side): Link | null {
    if (this.node === null) return null;
    return side === 'store' && this.node instanceof CoordinatorNode ? this.node.store : this.node.redis;
  }

  private forget(): void {
    this.node = null;
    this.life = null;
    this.api = null;
    this.roads.clear();
    this.endWaits();
    for (const unsubscribe of this.subscriptions.splice(0)) unsubscribe();
  }

  private coordinator(life: string, quiet: { metrics: Deaf; logger: Mute }): CoordinatorNode {
    const { cluster, clock } = this;
    const ports: CoordinatorPorts = {
      clock,
      ids: new ClockIds(clock, cluster.nextNode()),
      wakeup: this.wakeup(),
      executions: cluster.executions,
      triggers: cluster.triggersFor(life, () => this.roads.within('decideDue', () => this.life === life)),
      get lock() {
        return cluster.lock;
      },
      broker: { queue: this.queue(), results: this.results() },
    };
    const node = new CoordinatorNode(ports, life, { ...quiet, tickMs: cluster.tickMs, settleMs: 15_000 });
    this.roads.lay(node.store, 'store');
    this.roads.lay(node.redis, 'redis');
    const { ids, wakeup } = ports;
    const tasks = node.store.to(() => cluster.tasks);
    const triggers = node.store.to(() => cluster.triggers);
    const queue = node.redis.to(() => cluster.broker.queue);
    const registry = new InProcessWorkerRegistry(clock);
    const manage = new ManageTasks({ tasks, wakeup, registry, clock, ids });
    const run = new RunTask({ tasks, triggers, queue, tracer, clock, ids, ...quiet, node: life });
    const cancel = new CancelExecution({
      tasks,
      executions: node.store.to(() => cluster.executions),
      stops: node.redis.to(() => cluster.broker.watch.stops),
      receipts: node.redis.to(() => cluster.broker.receipts),
      audit: node.store.to(() => cluster.store.auditLog),
      ...{ clock, ...quiet, node: life },
    });
    this.api = { manage, run, cancel };
    return node;
  }

  private worker(life: string, quiet: { metrics: Deaf; logger: Mute }): WorkerNode {
    const { cluster, clock } = this;
    const executor = new SimulatedExecutor(life, clock, cluster);
    const queue = this.queue();
    const isDeaf = cluster.breakage === 'no_stops';
    const stops = isDeaf
      ? { subscribe: () => () => undefined }
      : hearingStops(cluster.broker.watch.stops, this.clock, this.subscriptions);
    const ports = {
      clock,
      get broker() {
        const { claims, receipts } = cluster.broker.watch;
        return { queue, claims: isDeaf ? deafToStops(claims) : claims, stops, receipts: listening(receipts) };
      },
    };
    const listening = (receipts: Receipts) => hearingReceipts(receipts, clock, this.subscriptions);
    const executors = new Map([[executor.type, executor]]);
    const node = new WorkerNode(ports, life, {
      ...{ ...quiet, executors, concurrency: 20, drainMs: 10_000 },
      maxWaiting: MAX_WAITING,
    });
    this.roads.lay(node.redis, 'redis');
    return node;
  }

  private wakeup(): Wakeup {
    const { wakeup } = this.cluster;
    return {
      notify: () => wakeup.notify(),
      subscribe: (listener) => {
        const unsubscribe = wakeup.subscribe(() => this.clock.whenAwake(listener));
        this.subscriptions.push(unsubscribe);
        return unsubscribe;
      },
    };
  }

  /** The cluster's queue, whichever it is at the time. */
  private queue(): Queue {
    const { cluster } = this;
    return {
      epoch: () => cluster.broker.queue.epoch(),
      publish: (messages) => cluster.broker.queue.publish(messages),
      depth: () => cluster.broker.queue.depth(),
      backlog: () => cluster.broker.queue.backlog(),
      states: (keys) => cluster.broker.queue.states(keys),
      giveBack: (deliveries) => cluster.broker.queue.giveBack(deliveries),
      take: (request) => cluster.broker.queue.take(this.patiently(request)),
    };
  }

  private results(): Results {
    const { cluster } = this;
    return {
      acknowledge: (batch) => cluster.broker.results.acknowledge(batch),
      backlog: () => cluster.broker.results.backlog(),
      take: (request) => cluster.broker.results.take(this.patiently(request)),
    };
  }

  private patiently<R extends { waitMs: number; signal: AbortSignal }>(request: R): R {
    return { ...request, waitMs: request.waitMs * PATIENCE, signal: this.waitFor(request.signal) };
  }

  private waitFor(signal: AbortSignal): AbortSignal {
    const known = this.waits.get(signal);
    if (known !== undefined) return known.signal;
    const wait = new AbortController();
    this.waits.set(signal, wait);
    signal.addEventListener('abort', () => wait.abort(), { once: true });
    if (signal.aborted) wait.abort();
    return wait.signal;
  }
}
