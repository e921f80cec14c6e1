/** How an enabled task stands. Instants are epoch ms. */
export interface TaskStanding {
  readonly id: string;
  readonly group: string;
  readonly updatedAt: number;
  /** Its oldest undecided slot; null at the end of its schedule. */
  readonly nextTriggerTime: number | null;
  /** End of its newest run that succeeded, and of its newest that ended as `fail` or `timeout`; null while there is none. */
  readonly lastSuccessAt: number | null;
  readonly lastFailureAt: number | null;
}

/** What the store says of its load, for measurements. Throws AxError `unavailable` when the store cannot be reached. */
export interface LoadRepo {
  /** Tasks by state, and the oldest undecided slot of the enabled ones, epoch ms, null if there is none. */
  load(): Promise<{
    readonly enabled: number;
    readonly disabled: number;
    readonly oldestSlot: number | null;
  }>;
  /**
   * The first `limit` enabled tasks in the order of pool, type of executor and id. Reads a few rows of each, however long its history
   * and however many tasks are disabled.
   */
  standings(limit: number): Promise<TaskStanding[]>;
}
