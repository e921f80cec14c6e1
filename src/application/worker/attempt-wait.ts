import { type Evidence, type Outcome } from '../../domain/execution.js';
import { type StopReason } from '../../ports/executor.js';
import { type Clock } from '../../ports/clock.js';
import { type Receipt, type ReceiptWait } from '../../ports/receipts.js';
import { type ReceiptDesk } from './receipt-desk.js';

/**
 * The wait of one attempt, ended by its receipt, its deadline or a stop: whichever is first counts. A receipt that the store has taken came
 * before a deadline that has not closed the wait yet, also if nobody was there to read it.
 */
export class AttemptWait {
  /** Receipts that were told of. */
  private told = 0;
  /** When the last one of them came; undefined: none did. */
  private toldAt: number | undefined;

  constructor(
    private readonly deps: { readonly desk: ReceiptDesk; readonly clock: Clock },
    private readonly executionId: string,
    private readonly onProgress: (receipt: Receipt) => void,
  ) {}

  /** `leftMs`: until the attempt's deadline. */
  async outcome(
    wait: ReceiptWait | null,
    leftMs: number,
    evidence: Evidence,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const ended = new AbortController();
    let end = 'deadline' as Receipt | StopReason | 'deadline';
    const endWith = (first: Receipt | StopReason) => {
      if (!ended.signal.aborted) end = first;
      ended.abort('ended');
    };
    const stop = () => endWith(signal.reason as StopReason);
    const remove = this.deps.desk.add(this.executionId, wait, (receipts) => {
      const final = this.take(receipts);
      if (final !== null) endWith(final);
    });
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      await this.deps.clock.sleep(Math.max(0, leftMs), ended.signal);
    } finally {
      signal.removeEventListener('abort', stop);
      remove();
    }
    const outcome = outcomeOf(end, evidence);
    if (end !== 'deadline') return outcome;
    const last = await this.lastWord(outcome, signal);
    return last ?? outcomeOf(signal.reason as StopReason, evidence);
  }

  /**
   * Ends the wait for good: what its receipt says, if the store has taken one, else `otherwise`; null if the run was stopped before the
   * store answered.
   */
  async lastWord(otherwise: Outcome, signal: AbortSignal): Promise<Outcome | null> {
    const came = await this.deps.desk.close(this.executionId, signal);
    if (came === null) return null;
    const receipt = this.take(came);
    return receipt === null ? otherwise : outcomeOf(receipt, otherwise.evidence);
  }

  /** Tells of new progress; the receipt that ends the attempt, if it is there. A store that lost data begins its list anew. */
  private take(receipts: readonly Receipt[]): Receipt | null {
    if (receipts.length < this.told || receipts[this.told - 1]?.at !== this.toldAt) this.told = 0;
    for (const receipt of receipts.slice(this.told)) {
      this.told++;
      this.toldAt = receipt.at;
      if (receipt.kind !== 'progress') return receipt;
      this.onProgress(receipt);
    }
    return null;
  }
}

function outcomeOf(end: Receipt | StopReason | 'deadline', evidence: Evidence): Outcome {
  if (end === 'deadline')
    return { status: 'timeout', reason: end, message: 'no receipt came in time', evidence };
  if (typeof end === 'string') return { status: 'fail', reason: end, message: `stopped: ${end}`, evidence };
  const withReceipt = { ...evidence, receipt: end.kind, receipt_at: end.at };
  if (end.kind === 'success')
    return { status: 'success', reason: null, message: end.message, evidence: withReceipt };
  const message = end.message ?? 'the receipt says that it failed';
  return { status: 'fail', reason: 'receipt', message, evidence: withReceipt };
}
