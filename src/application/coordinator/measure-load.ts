import { poolOf } from '../../domain/lane.js';
import { type Clock } from '../../ports/clock.js';
import { type LoadRepo } from '../../ports/load-repo.js';
import { type Logger } from '../../ports/logger.js';
import { type LeaderGaugeName, type Metrics } from '../../ports/metrics.js';
import { type LaneBacklog, type Queue } from '../../ports/queue.js';
import { type Results } from '../../ports/results.js';
import { type TriggerRepo } from '../../ports/trigger-repo.js';
import { taskLabels } from '../count-ended.js';
import { type Leadership } from './leadership.js';
import { boundedPools } from './bounded-pools.js';

/** What is measured together: what was read cannot be half told, and what cannot be read is absent, not old. */
interface Part {
  readonly gauges: readonly LeaderGaugeName[];
  /** Reads; the result tells. */
  readonly read: () => Promise<() => void>;
}

/** The leader's look at what waits, in the store, in the queue and on the way back, and at how each task stands. */
export class MeasureLoad {
  constructor(
    private readonly deps: {
      readonly leadership: Leadership;
      readonly loads: LoadRepo;
      readonly triggers: Pick<TriggerRepo, 'countDue'>;
      readonly queue: Pick<Queue, 'backlog'>;
      readonly results: Pick<Results, 'backlog'>;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
    },
    /** `maxTasks`: of how many tasks each is told; 0: of none. */
    private readonly options: { readonly lookMs: number; readonly maxTasks: number },
  ) {}

  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.look();
      await this.deps.clock.sleep(this.options.lookMs, stop);
    }
  }

  /** One look; a node that does not lead measures nothing. */
  async look(): Promise<void> {
    await Promise.all(this.parts().map((part) => this.measure(part)));
  }

  private async measure({ gauges, read }: Part): Promise<void> {
    const { leadership, metrics, logger } = this.deps;
    if (!leadership.isCurrent()) return;
    let tell = (): void => undefined;
    try {
      tell = await read();
    } catch (error) {
      logger.warn({ err: error, gauges }, 'load not measured, trying again');
    }
    for (const name of gauges) metrics.clear(name);
    if (leadership.isCurrent()) tell();
  }

  private parts(): Part[] {
    return [
      {
        gauges: ['tasks', 'due_backlog', 'due_oldest_age_seconds'],
        read: () => this.store(),
      },
      {
        gauges: [
          'task_last_success_timestamp_seconds',
          'task_last_failure_timestamp_seconds',
          'task_next_trigger_timestamp_seconds',
          'task_updated_timestamp_seconds',
        ],
        read: () => this.standings(),
      },
      { gauges: ['queue_depth', 'queue_oldest_age_seconds'], read: () => this.queue() },
      { gauges: ['results_depth', 'results_oldest_age_seconds'], read: () => this.results() },
    ];
  }

  private async store(): Promise<() => void> {
    const { loads, triggers, clock, metrics } = this.deps;
    const now = clock.now();
    const [{ enabled, disabled, oldestSlot }, due] = await Promise.all([
      loads.load(),
      triggers.countDue(now),
    ]);
    return () => {
      metrics.gauge('tasks', { enabled: 'true' }, enabled);
      metrics.gauge('tasks', { enabled: 'false' }, disabled);
      metrics.gauge('due_backlog', {}, due);
      metrics.gauge('due_oldest_age_seconds', {}, Math.max(0, now - (oldestSlot ?? now)) / 1000);
    };
  }

  private async standings(): Promise<() => void> {
    const { loads, metrics } = this.deps;
    const { maxTasks } = this.options;
    const standings = maxTasks === 0 ? [] : await loads.standings(maxTasks);
    return () => {
      for (const standing of standings) {
        const labels = taskLabels(standing);
        const { lastSuccessAt, lastFailureAt, nextTriggerTime, updatedAt } = standing;
        const values = [
          ['task_last_success_timestamp_seconds', lastSuccessAt],
          ['task_last_failure_timestamp_seconds', lastFailureAt],
          ['task_next_trigger_timestamp_seconds', nextTriggerTime],
          ['task_updated_timestamp_seconds', updatedAt],
        ] as const;
        for (const [name, at] of values) if (at !== null) metrics.gauge(name, labels, at / 1000);
      }
    };
  }

  private async queue(): Promise<() => void> {
    const { queue, metrics } = this.deps;
    const lanes = await queue.backlog();
    return () => {
      for (const [pool, { waiting, taken, oldestWaitMs }] of byPool(lanes)) {
        metrics.gauge('queue_depth', { pool, state: 'waiting' }, waiting);
        metrics.gauge('queue_depth', { pool, state: 'taken' }, taken);
        metrics.gauge('queue_oldest_age_seconds', { pool }, oldestWaitMs / 1000);
      }
    };
  }

  private async results(): Promise<() => void> {
    const { results, metrics } = this.deps;
    const { depth, oldestAgeMs } = await results.backlog();
    return () => {
      metrics.gauge('results_depth', {}, depth);
      metrics.gauge('results_oldest_age_seconds', {}, oldestAgeMs / 1000);
    };
  }
}

/** A pool with its shell lane; those that wait longest keep a series of their own. */
function byPool(lanes: readonly LaneBacklog[]): Map<string, Omit<LaneBacklog, 'lane'>> {
  const ordered = lanes.toSorted((a, b) => b.oldestWaitMs - a.oldestWaitMs);
  const nameOf = boundedPools(ordered.map(({ lane }) => poolOf(lane)));
  const pools = new Map<string, Omit<LaneBacklog, 'lane'>>();
  for (const { lane, waiting, taken, oldestWaitMs } of ordered) {
    const pool = nameOf(poolOf(lane));
    const sum = pools.get(pool);
    pools.set(pool, {
      waiting: waiting + (sum?.waiting ?? 0),
      taken: taken + (sum?.taken ?? 0),
      oldestWaitMs: Math.max(oldestWaitMs, sum?.oldestWaitMs ?? 0),
    });
  }
  return pools;
}
