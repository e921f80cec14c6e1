import { type Clock } from '../../ports/clock.js';
import {
  MAX_RECEIPTS,
  type Receipt,
  type ReceiptAnswer,
  type Receipts,
  type ReceiptWait,
} from '../../ports/receipts.js';

interface Wait {
  readonly attempt: number;
  tokenHash: string;
  state: 'open' | 'answered' | 'closed';
  /** Tokens of openings that later ones have replaced. */
  readonly past: Set<string>;
  readonly receipts: Receipt[];
  /** Monotonic ms. */
  forgetAt: number;
}

const FIRST_SWEEP_AT = 64;

/**
 * Waits for receipts inside one process. Their states:
 *   (none) ─open→ open ─a receipt that ends it→ answered ─close→ closed
 *   open ─close→ closed
 *   any ─open of a later attempt→ open, without receipts
 */
export class InProcessReceipts implements Receipts {
  private readonly waits = new Map<string, Wait>();
  private readonly listeners = new Set<{ readonly hear: (executionId: string) => void }>();
  private sweepAt = FIRST_SWEEP_AT;

  constructor(private readonly clock: Clock) {}

  async open({ executionId, attempt, tokenHash, keepMs }: ReceiptWait): Promise<void> {
    const before = this.find(executionId);
    if (before !== undefined && before.attempt > attempt) {
      before.past.add(tokenHash);
      return;
    }
    const isSame = before?.attempt === attempt;
    if (isSame && before.state === 'closed') return;
    const past = before?.past ?? new Set();
    if (before !== undefined && before.tokenHash !== tokenHash) past.add(before.tokenHash);
    const begun: Omit<Wait, 'tokenHash' | 'forgetAt'> = isSame
      ? before
      : { attempt, state: 'open', past, receipts: [] };
    const forgetAt = this.clock.monotonicMs() + keepMs;
    this.waits.set(executionId, { ...begun, tokenHash, forgetAt });
    this.sweep();
  }

  async read(executionIds: readonly string[]): Promise<Receipt[][]> {
    return executionIds.map((id) => [...(this.find(id)?.receipts ?? [])]);
  }

  async close(executionId: string, keepMs: number): Promise<void> {
    const wait = this.find(executionId);
    if (wait === undefined) return;
    wait.state = 'closed';
    wait.forgetAt = this.clock.monotonicMs() + keepMs;
  }

  async post(
    executionId: string,
    tokenHash: string,
    { kind, message }: Omit<Receipt, 'at'>,
  ): Promise<ReceiptAnswer> {
    const wait = this.find(executionId);
    if (wait === undefined) return 'unknown';
    const isCurrent = wait.tokenHash === tokenHash;
    if (!isCurrent && !wait.past.has(tokenHash)) return 'wrong_token';
    if (wait.state === 'closed') return 'late';
    if (!isCurrent) return 'superseded';
    if (wait.state === 'answered') return 'second';
    if (kind !== 'progress') wait.state = 'answered';
    else if (wait.receipts.length >= MAX_RECEIPTS - 1) return 'too_many';
    wait.receipts.push({ kind, message, at: this.clock.now() });
    for (const { hear } of [...this.listeners]) hear(executionId);
    return 'accepted';
  }

  subscribe(listener: (executionId: string) => void): () => void {
    const entry = { hear: listener };
    this.listeners.add(entry);
    return () => void this.listeners.delete(entry);
  }

  private find(executionId: string): Wait | undefined {
    const wait = this.waits.get(executionId);
    return wait !== undefined && wait.forgetAt > this.clock.monotonicMs() ? wait : undefined;
  }

  /** Removes what is forgotten each time that the number of waits has doubled, so that it costs each opening little. */
  private sweep(): void {
    if (this.waits.size < this.sweepAt) return;
    for (const id of this.waits.keys()) if (this.find(id) === undefined) this.waits.delete(id);
    this.sweepAt = Math.max(FIRST_SWEEP_AT, this.waits.size * 2);
  }
}
