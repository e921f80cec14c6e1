import { isBroken } from '../../domain/task.js';
import { type Clock } from '../../ports/clock.js';
import { type TaskRepo } from '../../ports/task-repo.js';
import { type WorkerAnnouncement, type WorkerRegistry } from '../../ports/worker-registry.js';
import { LiveWorkers, needOf, type PoolStatus } from './live-workers.js';

/** What is only shown beside something else is not waited for longer than this. */
const PATIENCE_MS = 500;

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
    const answered = new AbortController();
    const listed = registry.list().then(
      (workers) => new LiveWorkers(workers),
      () => null,
    );
    const tooLate = clock.sleep(PATIENCE_MS, answered.signal).then(() => null);
    const live = await Promise.race([listed, tooLate]);
    answered.abort('answered');
    return live;
  }

  /** Of a task as it is now; null if it is not there any more, or nobody knows. @throws AxError `unavailable` (the task store). */
  async statusOf(taskId: string): Promise<PoolStatus | null> {
    const [task, live] = await Promise.all([this.deps.tasks.find(taskId), this.live()]);
    return task === null || isBroken(task) || live === null ? null : live.statusOf(needOf(task));
  }
}
