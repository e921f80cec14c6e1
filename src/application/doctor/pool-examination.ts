import { type Diagnosis, named, ok, problem } from '../../domain/diagnosis.js';
import { type Examination } from '../../ports/examination.js';
import { type TaskRepo } from '../../ports/task-repo.js';
import { type WorkerRegistry } from '../../ports/worker-registry.js';
import { LiveWorkers } from '../pools/live-workers.js';

/** Pools and types of executor that one look takes in. */
const MAX_DEMANDS = 10_000;

/** Whether every enabled task has a worker. */
export class PoolExamination implements Examination {
  readonly part = 'pools';

  constructor(
    private readonly deps: {
      readonly workers: Pick<WorkerRegistry, 'list'>;
      readonly tasks: Pick<TaskRepo, 'demand'>;
    },
  ) {}

  async examine(): Promise<Diagnosis[]> {
    const [workers, demands] = await Promise.all([
      this.deps.workers.list(),
      this.deps.tasks.demand(MAX_DEMANDS),
    ]);
    const live = new LiveWorkers(workers);
    const unserved = demands.filter((demand) => live.for(demand) === 0);
    if (unserved.length === 0)
      return [ok(this.part, `all ${demands.length} in use are served; ${workers.length} live workers`)];
    const names = unserved.map(({ pool, executor, tasks }) => `${pool}/${executor} (${tasks} tasks)`);
    return [
      problem(
        this.part,
        `no live worker for ${named(names)}; their runs wait`,
        'start a worker with these AX_POOLS (and AX_SHELL_ENABLED for shell)',
      ),
    ];
  }
}
