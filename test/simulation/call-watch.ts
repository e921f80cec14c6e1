import { type Grants } from './grants.js';
import { type Journal } from './journal.js';
import { SKEW_MS } from './check-slots.js';
import { type RunBook } from './run-book.js';

export interface OpenCall {
  readonly executionId: string;
  readonly taskId: string;
  readonly worker: string;
  readonly attempt: number;
}

/** Clocks drift, and a claim's life is counted by two of them. */
const DRIFT_MS = 50;
/** Within a claim's life its worker learns of a stop, and begins nothing more. */
const STOP_MS = 15_000 + DRIFT_MS;

/** Whether a call to a target may begin, by the book of this life of the queue; what an earlier life allowed it does not judge. */
export class CallWatch {
  constructor(
    private readonly book: RunBook,
    private readonly journal: Journal,
    private readonly queue: { readonly life: number },
    private readonly grants: Grants,
    /** Of the whole cluster. */
    private readonly open: ReadonlySet<OpenCall>,
  ) {}

  /** `now`: true time, epoch ms. The call is one of the open ones already. */
  began({ executionId, taskId, worker, attempt }: OpenCall, now: number): void {
    const { book } = this;
    const grant = this.grants.of(executionId, worker);
    if (grant?.life !== this.queue.life) return;
    const tell = (rule: string, text: string) =>
      this.journal.add({ kind: 'violation', rule, executionId, text: `attempt ${attempt} begins, ${text}` });
    const run = book.run(executionId);
    const isOwn = run?.worker === worker && run.generation === grant.generation && run.state === 'live';
    // One that was asserted has the life that an earlier queue gave it, until it is renewed.
    const isAsserted = run?.limit === null;
    const isOver = run !== undefined && !isAsserted && run.endsAt + DRIFT_MS <= book.nowMs();
    if (!isOwn || isOver) return tell('dead_call', `and the claim of ${worker} is over`);
    if (!run.hasMark) tell('unmarked_call', `and ${worker} holds no mark`);
    const asked = book.stops.get(executionId);
    if (asked !== undefined && book.nowMs() - asked.at > STOP_MS)
      tell('stop', `${book.nowMs() - asked.at} ms after it was ${asked.reason}`);
    const receipt = book.receipts.get(executionId);
    if (receipt?.kind === 'success' && receipt.attempt === run.lastDelivered)
      tell('receipt', `and the receipt of attempt ${receipt.attempt} says success`);
    else if (run.delivered !== null && receipt === undefined && now < run.delivered.until - SKEW_MS)
      tell('redelivered', `and the receipt of attempt ${run.delivered.attempt} is awaited`);
    this.count(taskId, (text) => tell('max_calls', text));
  }

  /** Open calls under live marks: never more than the task allowed any of them. */
  private count(taskId: string, tell: (text: string) => void): void {
    let [count, most] = [0, 0];
    for (const call of this.open) {
      const run = this.book.run(call.executionId);
      const isMarked =
        run?.hasMark === true && run.worker === call.worker && this.book.isLive(call.executionId);
      if (call.taskId !== taskId || !isMarked) continue;
      count += 1;
      most = Math.max(most, run.limit ?? Infinity);
    }
    if (count > most) tell(`the ${count}th call at once of ${most}`);
  }
}
