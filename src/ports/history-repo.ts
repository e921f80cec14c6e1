import { type RecordedEvent } from '../domain/recorded-run.js';
import { type KnownState, type TaskChange } from '../domain/task-history.js';
import { type TriggerKind } from '../domain/trigger.js';

/**
 * What ax recorded, to be checked. Reads only; each call is one look, and what changes between two calls is seen by the later one.
 * Throws AxError `unavailable` when the store cannot be reached.
 */
export interface HistoryRepo {
  /**
   * The smallest id above `after` of a task that exists, was changed through ax, or has an event, in the order of characters; null when
   * there is none. `''` begins.
   */
  nextTaskId(after: string): Promise<string | null>;
  /**
   * What the task is now, and its audited changes, oldest first, from the last one before `from` (epoch ms) on; both as of one
   * moment. No more than the latest `limit` changes.
   */
  taskHistory(
    taskId: string,
    from: number,
    limit: number,
  ): Promise<{ readonly current: KnownState; readonly changes: readonly TaskChange[] }>;
  /** The last event of the schedule with a slot before `slot`; null if there is none. */
  eventBefore(taskId: string, slot: number): Promise<RecordedEvent | null>;
  /** Up to `limit` events with slots in `[from, to]`, in the order of slot and id, after the given one if any. */
  events(request: {
    readonly taskId: string;
    readonly kind: TriggerKind;
    readonly from: number;
    readonly to: number;
    readonly after: Pick<RecordedEvent, 'slot' | 'id'> | null;
    readonly limit: number;
  }): Promise<RecordedEvent[]>;
}
