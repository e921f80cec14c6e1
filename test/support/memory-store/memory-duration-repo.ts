import { idBound } from '../../../src/adapters/sql/time-ordered-id.js';
import { type RunTiming } from '../../../src/domain/run-stats.js';
import { type DurationRepo } from '../../../src/ports/duration-repo.js';
import { type MemoryDb } from './memory-db.js';

export class MemoryDurationRepo implements DurationRepo {
  constructor(private readonly db: MemoryDb) {}

  async p95(
    taskIds: readonly string[],
    { since, sample }: { readonly since: number; readonly sample: number },
  ): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (const id of taskIds.filter((taskId) => this.db.tasks.has(taskId))) {
      const durations = ['success', 'fail', 'timeout']
        .flatMap((status) => this.latest(id, status, since, sample))
        .sort((a, b) => a - b);
      const p95 = durations[Math.ceil(durations.length * 0.95) - 1];
      if (p95 !== undefined) found.set(id, p95);
    }
    return found;
  }

  async timings(request: Parameters<DurationRepo['timings']>[0]): Promise<RunTiming[]> {
    const { taskId, from, to, afterId, limit } = request;
    return [...this.db.events.values()]
      .map(({ event }) => event)
      .filter((event) => event.taskId === taskId && event.firedAt >= from && event.firedAt < to)
      .filter(({ id }) => id > (afterId ?? ''))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit)
      .map(({ id, kind, windowStart, firedAt }) => {
        const { report = null, startedAt = null } = this.db.states.get(id) ?? {};
        const { status = 'pending', reason = null, finishedAt = null } = report ?? {};
        return { id, kind, windowStart, firedAt, status, reason, startedAt, finishedAt };
      });
  }

  private latest(taskId: string, status: string, since: number, sample: number): number[] {
    return [...this.db.states]
      .filter(([, { report }]) => report?.taskId === taskId && report.status === status)
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .slice(0, sample)
      .filter(([id]) => id >= idBound(since))
      .flatMap(([, { report, startedAt }]) => {
        const finishedAt = report?.finishedAt ?? null;
        return startedAt === null || finishedAt === null ? [] : [finishedAt - startedAt];
      });
  }
}
