import { type ExecutionReport, type Outcome } from '../domain/execution.js';

/** What the newest run of a task came to. Instants are epoch ms. */
export interface LastOutcome {
  readonly status: Outcome['status'];
  readonly slot: number;
  readonly finishedAt: number;
}

/**
 * How the newest run of each task ended, for workers, which never read the store. Claims.finish takes note by itself, in the same step;
 * a run that was skipped is none. All calls throw AxError `unavailable` when the queue's store cannot be reached.
 */
export interface LastOutcomes {
  /** Null: no run of the task that has ended is known; after a year without one it is forgotten. */
  read(taskId: string): Promise<LastOutcome | null>;
  /** Takes note of runs that ended otherwise. One of an older slot than is known changes nothing. */
  note(outcomes: readonly { readonly taskId: string; readonly outcome: LastOutcome }[]): Promise<void>;
  /** The queue's life in which what is known was completed from the store; null: in none. */
  filledFor(): Promise<string | null>;
  markFilled(epoch: string): Promise<void>;
}

/** What a final report says of the run of a slot; null if it was none. */
export function lastOutcomeOf(slot: number, report: ExecutionReport): LastOutcome | null {
  const { status, finishedAt, entry } = report;
  const isRun = status === 'success' || status === 'fail' || status === 'timeout';
  return isRun ? { status, slot, finishedAt: finishedAt ?? entry.at } : null;
}
