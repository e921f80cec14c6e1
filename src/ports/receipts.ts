/** What the business side says of an attempt that it took over. */
export interface Receipt {
  /** `progress` ends nothing and prolongs nothing. */
  readonly kind: 'success' | 'fail' | 'progress';
  /** One line for people; null: none. */
  readonly message: string | null;
  /** When it came, epoch ms by the store's clock. */
  readonly at: number;
}

/** The wait of one attempt for its receipts. */
export interface ReceiptWait {
  readonly executionId: string;
  readonly attempt: number;
  /** SHA-256 of the attempt's token, hex. */
  readonly tokenHash: string;
  /** How long the wait is remembered after its last opening, ms. */
  readonly keepMs: number;
}

/**
 * - `accepted`: it counts;
 * - `unknown`: no receipt of this execution is waited for, or the store has forgotten it: its worker opens the wait again soon;
 * - `wrong_token`: of another execution, or of nothing;
 * - `superseded`: of an attempt that has ended, a later one waits;
 * - `second`: the attempt has its receipt already;
 * - `late`: the wait is over;
 * - `too_many`: more progress than is kept.
 */
export type ReceiptAnswer =
  'accepted' | 'unknown' | 'wrong_token' | 'superseded' | 'second' | 'late' | 'too_many';

/** How long a wait that is over is remembered, so that late receipts get a clear answer. */
export const KEEP_CLOSED_MS = 24 * 3_600_000;

/** How many receipts of one wait are kept; the last place is for the one that ends it. */
export const MAX_RECEIPTS = 101;

/**
 * Receipts on their way from whoever takes them in to the worker that waits for them. Each call is atomic. All calls throw AxError
 * `unavailable` when the store cannot be reached; then the call may or may not have taken effect, and repeating it is safe, but for
 * `post`, whose repetition may be answered `second`.
 */
export interface Receipts {
  /**
   * From now on receipts with this token count. Opened again (by the same worker, or by the next one): what came stays. A later attempt
   * begins anew, and the tokens of earlier ones are remembered as superseded. A closed wait stays closed.
   */
  open(wait: ReceiptWait): Promise<void>;
  /** What came for the current attempt of each, in the order of coming; empty for waits that are not known. One round trip. */
  read(executionIds: readonly string[]): Promise<Receipt[][]>;
  /** Ends the wait; receipts of this execution that come later are answered `late` while the wait is remembered. */
  close(executionId: string, keepMs: number): Promise<void>;
  /** `at` is the store's. */
  post(executionId: string, tokenHash: string, receipt: Omit<Receipt, 'at'>): Promise<ReceiptAnswer>;
  /** Calls `listener` with the id of an execution after a receipt was accepted, in every process, until the returned function is called. Best effort: waiters also read from time to time. */
  subscribe(listener: (executionId: string) => void): () => void;
}
