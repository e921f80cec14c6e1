import { type Status } from '../../../src/domain/execution.js';
import { type Task } from '../../../src/domain/task.js';
import { type LoadRepo, type TaskStanding } from '../../../src/ports/load-repo.js';
import { type MemoryDb } from './memory-db.js';

export class MemoryLoadRepo implements LoadRepo {
  constructor(private readonly db: MemoryDb) {}

  async load(): ReturnType<LoadRepo['load']> {
    const tasks = [...this.db.tasks.values()].map(({ task }) => task);
    const enabled = tasks.filter(({ isEnabled }) => isEnabled);
    const slots = enabled.flatMap(({ nextTriggerTime }) => nextTriggerTime ?? []);
    return {
      enabled: enabled.length,
      disabled: tasks.length - enabled.length,
      oldestSlot: slots.length === 0 ? null : Math.min(...slots),
    };
  }

  async standings(limit: number): Promise<TaskStanding[]> {
    return [...this.db.tasks.values()]
      .map(({ task }) => task)
      .filter(({ isEnabled }) => isEnabled)
      .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
      .slice(0, limit)
      .map(({ id, group, updatedAt, nextTriggerTime }) => {
        const failures = [this.last(id, 'fail'), this.last(id, 'timeout')].filter((at) => at !== null);
        const lastFailureAt = failures.length === 0 ? null : Math.max(...failures);
        return {
          id,
          group,
          updatedAt,
          nextTriggerTime,
          lastSuccessAt: this.last(id, 'success'),
          lastFailureAt,
        };
      });
  }

  private last(taskId: string, status: Status): number | null {
    const ended = [...this.db.states]
      .filter(([, { report }]) => report?.taskId === taskId && report.status === status)
      .sort(([a], [b]) => (a < b ? 1 : -1));
    return ended[0]?.[1].report?.finishedAt ?? null;
  }
}

const placeOf = ({ pool, executor, id }: Task): string => [pool, executor.type, id].join(' ');
