import { InvalidInput } from '../../domain/errors.js';
import { type TaskDefinition } from '../../domain/task.js';
import { type PoolDemand } from '../../ports/task-repo.js';
import { type WorkerAnnouncement } from '../../ports/worker-registry.js';

/** What a run needs of a worker. */
export type Need = Pick<PoolDemand, 'pool' | 'executor'>;

export const needOf = ({ pool, executor }: Pick<TaskDefinition, 'pool' | 'executor'>): Need => ({
  pool,
  executor: executor.type,
});

/** Whether runs of a task find a worker. */
export interface PoolStatus {
  /** Workers that take its runs: of its pool, with its type of executor, not draining. */
  readonly liveWorkers: number;
  /** Why its runs wait, in words; null: not for a worker. */
  readonly problem: string | null;
}

/** Who serves what, as of one reading of the registry. A draining worker serves nothing. */
export class LiveWorkers {
  private readonly byPool = new Map<string, number>();
  private readonly byNeed = new Map<string, number>();

  constructor(workers: readonly WorkerAnnouncement[]) {
    for (const { pools, executors, isDraining } of workers) {
      if (isDraining) continue;
      for (const pool of new Set(pools)) {
        addOne(this.byPool, pool);
        for (const executor of new Set(executors)) addOne(this.byNeed, keyOf({ pool, executor }));
      }
    }
  }

  /** Pools that are served, whether a task names them or not. */
  pools(): string[] {
    return [...this.byPool.keys()];
  }

  inPool(pool: string): number {
    return this.byPool.get(pool) ?? 0;
  }

  for(need: Need): number {
    return this.byNeed.get(keyOf(need)) ?? 0;
  }

  statusOf(need: Need): PoolStatus {
    const { pool, executor } = need;
    const liveWorkers = this.for(need);
    if (liveWorkers > 0) return { liveWorkers, problem: null };
    const nobody =
      this.inPool(pool) === 0
        ? `no live worker serves pool "${pool}"`
        : `no live worker of pool "${pool}" runs executors of type ${executor}`;
    return { liveWorkers, problem: `${nobody}; runs wait until one does` };
  }
}

const addOne = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

/** Neither has a blank. */
const keyOf = ({ pool, executor }: Need): string => `${pool} ${executor}`;

/**
 * Shell commands are off unless a worker allows them, so a task that nobody would run is refused instead of left waiting.
 * @throws InvalidInput on field `executor.type`.
 */
export function assertShellAllowed(task: Pick<TaskDefinition, 'pool' | 'executor'>, live: LiveWorkers): void {
  const { pool, executor } = task;
  if (executor.type !== 'shell' || live.for(needOf(task)) > 0) return;
  const problem = `is shell, which no live worker of pool "${pool}" allows`;
  const fix = `set AX_SHELL_ENABLED=true on a worker of pool "${pool}", or name a pool that has one`;
  throw InvalidInput.of('executor.type', problem, fix);
}
