import { type RunTiming } from '../domain/run-stats.js';

/** How long runs took. Throws AxError `unavailable` when the store cannot be reached. */
export interface DurationRepo {
  /**
   * The 95th percentile (nearest rank) of the durations of each task's latest runs, ms from the start of the first attempt to the end of
   * the last; tasks without any, or that do not exist, are left out. Runs that began to be before `since` (epoch ms, by their id) do not
   * count, and of each way to end (success, fail, timeout) only the latest `sample`. Reads no more than these, however long the history is.
   */
  p95(
    taskIds: readonly string[],
    request: { readonly since: number; readonly sample: number },
  ): Promise<Map<string, number>>;
  /**
   * Up to `limit` executions of a task that were triggered in `[from, to)`, epoch ms, in the order of ids, after `afterId` if any. A range of
   * slots that was skipped as a whole is one. Reads no more than these, from indexes alone, however long the history is.
   */
  timings(request: {
    readonly taskId: string;
    readonly from: number;
    readonly to: number;
    readonly afterId: string | null;
    readonly limit: number;
  }): Promise<RunTiming[]>;
}
