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
}
