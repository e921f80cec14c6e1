import { type SlotKey } from '../../domain/trigger.js';
import { type Clock } from '../../ports/clock.js';
import { type QueueMessage } from '../../ports/queue.js';
import { InProcessFifo } from './in-process-fifo.js';

/** Slot lock and state of one run in one; `pool` and `handle` say which message counts. */
export interface Run {
  readonly id: string;
  state: 'queued' | 'waiting' | 'claimed' | 'finished';
  pool: string;
  handle: string;
  /** The message itself while it waits, else null. */
  message: QueueMessage | null;
  /** The latest claim's; null before the first. */
  worker: string | null;
  generation: number;
  /** End of the claim's life, monotonic ms. */
  ends: number;
  hasMark: boolean;
  /** Since when the run has held that mark, over all claims; epoch ms. */
  since: number;
  /** `max_concurrent` of the task at the claim; null if not known. */
  limit: number | null;
  attempt: number;
  failures: number;
  receiptUntil: number | null;
  retryAt: number | null;
  isHandedBack: boolean;
}

/** A run before its first claim. */
export const newRun = (id: string, pool: string, handle: string): Run => ({
  id,
  state: 'queued',
  pool,
  handle,
  message: null,
  worker: null,
  generation: 0,
  ends: 0,
  hasMark: false,
  since: 0,
  limit: null,
  attempt: 0,
  failures: 0,
  receiptUntil: null,
  retryAt: null,
  isHandedBack: false,
});

interface Mark {
  /** End of its life, monotonic ms. */
  readonly ends: number;
  readonly since: number;
}

const FORGET_FINISHED_AFTER_MS = 3_600_000;

/** The runs of all slots and the running marks of all tasks. Finished runs are forgotten after an hour. */
export class InProcessRuns {
  private readonly bySlot = new Map<string, Run>();
  private readonly finished = new InProcessFifo<{ readonly slot: string; readonly at: number }>();
  /** By task and execution. */
  private readonly marks = new Map<string, Map<string, Mark>>();

  constructor(private readonly clock: Clock) {}

  find(key: SlotKey): Run | undefined {
    this.forgetFinished();
    return this.bySlot.get(slotOf(key));
  }

  put(key: SlotKey, run: Run): Run {
    this.bySlot.set(slotOf(key), run);
    return run;
  }

  forget(key: SlotKey): void {
    this.bySlot.delete(slotOf(key));
  }

  finish(key: SlotKey, run: Run): void {
    run.state = 'finished';
    this.finished.push({ slot: slotOf(key), at: this.clock.monotonicMs() });
  }

  isClaimLive(run: Run): boolean {
    return run.state === 'claimed' && run.ends > this.clock.monotonicMs();
  }

  hasMark(taskId: string, executionId: string): boolean {
    return this.marks.get(taskId)?.has(executionId) ?? false;
  }

  mark(taskId: string, executionId: string, mark: Mark): void {
    const marks = this.marks.get(taskId) ?? new Map<string, Mark>();
    this.marks.set(taskId, marks.set(executionId, mark));
  }

  unmark(taskId: string, executionId: string): void {
    const marks = this.marks.get(taskId);
    marks?.delete(executionId);
    if (marks?.size === 0) this.marks.delete(taskId);
  }

  /** Live marks of a task; expired ones are removed. */
  countMarks(taskId: string): number {
    return this.marked(taskId).length;
  }

  /** Executions that hold a live mark. */
  marked(taskId: string): string[] {
    const now = this.clock.monotonicMs();
    for (const [executionId, { ends }] of this.marks.get(taskId) ?? []) {
      if (ends <= now) this.unmark(taskId, executionId);
    }
    return [...(this.marks.get(taskId)?.keys() ?? [])];
  }

  /** Live marks of a task that were taken before an instant, epoch ms. */
  countMarksBefore(taskId: string, instant: number): number {
    return this.marked(taskId).filter((id) => (this.marks.get(taskId)?.get(id)?.since ?? 0) < instant).length;
  }

  private forgetFinished(): void {
    const until = this.clock.monotonicMs() - FORGET_FINISHED_AFTER_MS;
    for (let oldest = this.finished.peek(); oldest !== undefined; oldest = this.finished.peek()) {
      if (oldest.at > until) break;
      this.bySlot.delete(oldest.slot);
      this.finished.shift();
    }
  }
}

const slotOf = ({ taskId, kind, slot }: SlotKey): string => `${taskId}:${kind}:${slot}`;
