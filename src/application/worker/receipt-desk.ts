import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { KEEP_CLOSED_MS, type Receipt, type Receipts, type ReceiptWait } from '../../ports/receipts.js';

const POLL_MS = 1000;
/** A wait that the store may have lost is opened again this often. */
const REOPEN_MS = 15_000;

interface Waiting {
  readonly onReceipts: (receipts: readonly Receipt[]) => void;
  /** Null: opened by an earlier worker, which alone knew its token. */
  readonly wait: ReceiptWait | null;
  /** Monotonic ms. */
  openedAt: number;
}

/**
 * All waits of one worker for receipts: reads for all of them in one call, every second and at once when one comes, and opens waits again
 * that the store may have lost. Idle while nobody waits.
 */
export class ReceiptDesk {
  private readonly waiting = new Map<string, Waiting>();
  private wake: () => void = () => undefined;
  private isWatching = false;

  constructor(
    private readonly deps: { readonly receipts: Receipts; readonly clock: Clock; readonly logger: Logger },
  ) {}

  /**
   * Calls `onReceipts` with everything that came for the execution so far, whenever something has been read, until the returned function is
   * called. The wait must be open in the store.
   */
  add(executionId: string, wait: ReceiptWait | null, onReceipts: Waiting['onReceipts']): () => void {
    const added: Waiting = { onReceipts, wait, openedAt: this.deps.clock.monotonicMs() };
    this.waiting.set(executionId, added);
    if (this.isWatching) this.wake();
    else void this.watch();
    return () => {
      if (this.waiting.get(executionId) !== added) return;
      this.waiting.delete(executionId);
      if (this.waiting.size === 0) this.wake();
    };
  }

  /**
   * Ends the wait of an attempt whose time is over; everything that came for it until then. Repeated until the store has answered, since
   * it may have taken a receipt that this worker has not seen; null if `signal` was aborted before.
   */
  async close(executionId: string, signal: AbortSignal): Promise<readonly Receipt[] | null> {
    const { receipts, clock, logger } = this.deps;
    while (!signal.aborted) {
      try {
        await receipts.close(executionId, KEEP_CLOSED_MS);
        const [came = []] = await receipts.read([executionId]);
        return came;
      } catch (error) {
        logger.warn(
          { execution_id: executionId, err: error },
          'a wait that is over was not closed, trying again',
        );
        await clock.sleep(POLL_MS, signal);
      }
    }
    return null;
  }

  private async watch(): Promise<void> {
    this.isWatching = true;
    const unsubscribe = this.deps.receipts.subscribe((executionId) => {
      if (this.waiting.has(executionId)) this.wake();
    });
    while (this.waiting.size > 0) {
      const woken = new AbortController();
      this.wake = () => woken.abort('woken');
      await this.read();
      if (this.waiting.size > 0) await this.deps.clock.sleep(POLL_MS, woken.signal);
    }
    unsubscribe();
    this.isWatching = false;
  }

  private async read(): Promise<void> {
    const { receipts, logger } = this.deps;
    const batch = [...this.waiting];
    try {
      await this.reopen(batch.map(([, waiting]) => waiting));
      const found = await receipts.read(batch.map(([executionId]) => executionId));
      for (const [i, [executionId, waiting]] of batch.entries()) {
        if (this.waiting.get(executionId) === waiting) waiting.onReceipts(found[i] ?? []);
      }
    } catch (error) {
      logger.warn({ err: error, waits: batch.length }, 'receipts not read, trying again');
    }
  }

  private async reopen(batch: readonly Waiting[]): Promise<void> {
    const now = this.deps.clock.monotonicMs();
    const due = batch.filter(({ wait, openedAt }) => wait !== null && now - openedAt >= REOPEN_MS);
    await Promise.all(
      due.map(async (waiting) => {
        if (waiting.wait !== null) await this.deps.receipts.open(waiting.wait);
        waiting.openedAt = now;
      }),
    );
  }
}
