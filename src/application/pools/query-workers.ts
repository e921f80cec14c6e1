import { isBroken } from '../../domain/task.js';
import { type Clock } from '../../ports/clock.js';
import { type TaskRepo } from '../../ports/task-repo.js';
import { type WorkerAnnouncement, type WorkerRegistry } from '../../ports/worker-registry.js';
import { answeredSoon } from '../answered-soon.js';
import { LiveWorkers, needOf, type PoolStatus } from './live-workers.js';

/** Reads which workers live and whom they serve. */
export class QueryWorkers {
  constructor(
    private readonly deps: {
      readonly registry: WorkerRegistry;
      readonly tasks: Pick<TaskRepo, 'find'>;
      readonly clock: Clock;
    },
  ) {}

  /** @throws AxError `unavailable`. */
  async list(): Promise<WorkerAnnouncement[]> {
    return this.deps.registry.list();
  }

  /** Null if the registry does not answer soon: nobody knows then. */
  async live(): Promise<LiveWorkers | null> {
    const { registry, clock } = this.deps;
    const workers = await answeredSoon(registry.list(), clock);
    return workers === null ? null : new LiveWorkers(workers);
  }

  /** Of a task as it is now; null if it is not there any more, or nobody knows. @throws AxError `unavailable` (the task store). */
  async statusOf(taskId: string): Promise<PoolStatus | null> {
    const [task, live] = await Promise.all([this.deps.tasks.find(taskId), this.live()]);
    return task === null || isBroken(task) || live === null ? null : live.statusOf(needOf(task));
  }
}
