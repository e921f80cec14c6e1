import { type Receipts } from '../../src/ports/receipts.js';
import { type RunBook } from './run-book.js';

/** By execution whose wait was closed after it was last opened: in which life of the queue. */
export type Closings = Map<string, number>;

/** Stands in front of the receipts of one life of the queue: notes which one ends the wait of which attempt, and which waits were closed. */
export class ReceiptWatch {
  private readonly attempts = new Map<string, number>();

  constructor(
    private readonly receipts: Receipts,
    private readonly book: RunBook,
    private readonly queue: { readonly life: number },
    private readonly closings: Closings,
  ) {}

  readonly port: Receipts = {
    open: (wait) => {
      this.attempts.set(wait.tokenHash, wait.attempt);
      this.closings.delete(wait.executionId);
      return this.receipts.open(wait);
    },
    read: (executionIds) => this.receipts.read(executionIds),
    close: (executionId, keepMs) => {
      this.closings.set(executionId, this.queue.life);
      return this.receipts.close(executionId, keepMs);
    },
    post: (...args) => this.book.counted(this.post(...args)),
    subscribe: (listener) => this.receipts.subscribe(listener),
  };

  private async post(...args: Parameters<Receipts['post']>): ReturnType<Receipts['post']> {
    const [executionId, tokenHash, { kind }] = args;
    const answer = await this.receipts.post(...args);
    const attempt = this.attempts.get(tokenHash) ?? 0;
    if (answer === 'accepted' && kind !== 'progress') this.book.receipts.set(executionId, { attempt, kind });
    return answer;
  }
}
