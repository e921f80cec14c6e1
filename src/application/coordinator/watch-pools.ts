import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type PoolDemand, type TaskRepo } from '../../ports/task-repo.js';
import { type WorkerRegistry } from '../../ports/worker-registry.js';
import { LiveWorkers } from '../pools/live-workers.js';
import { boundedPools } from './bounded-pools.js';
import { type Leadership } from './leadership.js';

/** Pools and types of executor that one look takes in. */
const MAX_DEMANDS = 10_000;
/** Names in one line of the log. */
const MAX_NAMES = 20;

/**
 * The leader's look at whether every enabled task has a worker. What it sees is measured at once; it is told only when two looks in
 * succession agree, so that neither the restart of a worker nor that of Redis is.
 */
export class WatchPools {
  /** Served by nobody at the last look. */
  private missed = new Set<string>();
  /** Of these, the ones that were told. */
  private told = new Set<string>();

  constructor(
    private readonly deps: {
      readonly leadership: Leadership;
      readonly registry: WorkerRegistry;
      readonly tasks: Pick<TaskRepo, 'demand'>;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
    },
    private readonly options: { readonly lookMs: number },
  ) {}

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await this.look();
      } catch (error) {
        this.deps.logger.warn({ err: error }, 'pools not looked at, trying again');
        this.forget();
      }
      await this.deps.clock.sleep(this.options.lookMs, stop);
    }
    this.rest();
  }

  /** One look; a node that does not lead measures nothing, so that the leader's word is the only one. */
  async look(): Promise<void> {
    const { leadership, registry, tasks } = this.deps;
    if (!leadership.isCurrent()) return this.rest();
    const [workers, demands] = await Promise.all([registry.list(), tasks.demand(MAX_DEMANDS)]);
    if (!leadership.isCurrent()) return this.rest();
    const live = new LiveWorkers(workers);
    const unserved = demands.filter((demand) => live.for(demand) === 0);
    this.measure(live, demands, unserved);
    this.tell(demands, unserved);
  }

  private measure(live: LiveWorkers, demands: readonly PoolDemand[], unserved: readonly PoolDemand[]): void {
    const { metrics } = this.deps;
    metrics.gauge('tasks_without_worker', {}, tasksOf(unserved));
    // Those that lack a worker come first, then by demand: they keep a series of their own.
    const pools = [...new Set([...unserved, ...demands].map(({ pool }) => pool).concat(live.pools()))];
    metrics.clear('pool_workers');
    const measuredAs = boundedPools(pools);
    const workers = new Map<string, number>();
    for (const pool of pools) {
      const name = measuredAs(pool);
      workers.set(name, (workers.get(name) ?? 0) + live.inPool(pool));
    }
    for (const [pool, count] of workers) metrics.gauge('pool_workers', { pool }, count);
  }

  private tell(demands: readonly PoolDemand[], unserved: readonly PoolDemand[]): void {
    const { logger } = this.deps;
    const missing = new Map(unserved.map((demand) => [nameOf(demand), demand]));
    const lost = [...missing].filter(([name]) => this.missed.has(name) && !this.told.has(name));
    const wanted = new Set(demands.map(nameOf));
    const back = [...this.told].filter((name) => wanted.has(name) && !missing.has(name));
    this.missed = new Set(missing.keys());
    this.told = new Set([...this.told, ...lost.map(([name]) => name)].filter((name) => missing.has(name)));
    if (lost.length > 0) {
      const facts = {
        ...namesOf(lost.map(([name]) => name)),
        tasks: tasksOf(lost.map(([, demand]) => demand)),
      };
      logger.warn(facts, 'no live worker for these pools and types of executor; runs of their tasks wait');
    }
    if (back.length > 0) logger.info(namesOf(back), 'pools and types of executor have a worker again');
  }

  private rest(): void {
    this.missed = new Set();
    this.told = new Set();
    this.forget();
  }

  /** What is not known is absent, not old. */
  private forget(): void {
    for (const name of ['tasks_without_worker', 'pool_workers'] as const) this.deps.metrics.clear(name);
  }
}

const nameOf = ({ pool, executor }: PoolDemand): string => `${pool}/${executor}`;

const tasksOf = (demands: readonly PoolDemand[]): number =>
  demands.reduce((sum, { tasks }) => sum + tasks, 0);

const namesOf = (names: readonly string[]) => ({
  pools: names.slice(0, MAX_NAMES),
  ...(names.length > MAX_NAMES ? { more: names.length - MAX_NAMES } : {}),
});
