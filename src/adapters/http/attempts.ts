import { type LedgerEntry } from '../../domain/execution.js';

/** One try as the ledger shows it. Instants are epoch ms; `status` is `running` until it ends. */
export interface AttemptJson {
  readonly attempt: number;
  readonly status: string;
  readonly reason: string | null;
  readonly error_msg: string | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly evidence: unknown;
}

type Detail = LedgerEntry['detail'];

/**
 * The attempts of an execution from its ledger, in order. A claim stands for the start of attempt 1, unless the entry after it says that
 * it takes over from an earlier claim with attempts. An attempt that is open when another worker takes over ends as `outcome_unknown`.
 * Numbers start again when the queue has lost the run and it was published once more.
 */
export function attemptsOf(ledger: readonly LedgerEntry[]): AttemptJson[] {
  const attempts = new Attempts();
  for (const entry of ledger) attempts.apply(entry);
  return attempts.rows;
}

/** Attempts follow each other, so only the last row can be open. */
class Attempts {
  readonly rows: AttemptJson[] = [];

  apply({ kind, at, detail }: LedgerEntry): void {
    switch (kind) {
      case 'claimed':
        this.start(1, at);
        return;
      case 'reclaimed':
        // After a claim that the queue may have lost, its own claim stands for the start of an attempt.
        if (detail['previous_worker'] === null) return;
        if (this.rows.length > 1 && this.open()?.started_at === at) this.rows.pop();
        else if (this.open()?.started_at !== at) this.lose(at, 'its worker lost the claim');
        return;
      case 'attempt_started':
        this.start(numberIn(detail, 'attempt') ?? 1, at);
        return;
      case 'attempt_failed':
        this.end(detail, at);
        return;
      case 'handed_back':
        if (numberIn(detail, 'attempt') === 0) this.forget();
        else if (numberIn(detail, 'receipt_until') !== null) return;
        else if (detail['reason'] === 'queue_lost') this.lose(at, 'its worker lost the claim');
        else
          this.close({ status: 'fail', reason: 'drained', error_msg: 'its worker stopped', finished_at: at });
        return;
      case 'finished':
        this.finish(detail, at);
        return;
      default:
    }
  }

  private start(attempt: number, at: number): void {
    this.lose(at, 'its worker lost the claim');
    this.rows.push({
      attempt,
      status: 'running',
      reason: null,
      error_msg: null,
      started_at: at,
      finished_at: null,
      evidence: {},
    });
  }

  /** A final report of attempt 0 is a verdict of ax: no attempt ran, unless what became of it cannot be known. */
  private finish(detail: Detail, at: number): void {
    if (numberIn(detail, 'attempt') !== 0) this.end(detail, at);
    else if (detail['reason'] === 'outcome_unknown') this.lose(at, 'no result of it arrived');
    else this.forget();
  }

  private end(detail: Detail, at: number): void {
    const attempt = numberIn(detail, 'attempt') ?? 1;
    if (this.open()?.attempt !== attempt) this.start(attempt, numberIn(detail, 'started_at') ?? at);
    this.close({
      status: textIn(detail, 'status') ?? 'fail',
      reason: textIn(detail, 'reason'),
      error_msg: textIn(detail, 'message'),
      started_at: numberIn(detail, 'started_at') ?? this.open()?.started_at ?? null,
      finished_at: numberIn(detail, 'finished_at') ?? at,
      evidence: detail['evidence'] ?? {},
    });
  }

  private lose(at: number, error_msg: string): void {
    this.close({ status: 'fail', reason: 'outcome_unknown', error_msg, finished_at: at });
  }

  private close(change: Partial<AttemptJson>): void {
    const open = this.open();
    if (open !== undefined) this.rows.splice(-1, 1, { ...open, ...change });
  }

  private forget(): void {
    if (this.open() !== undefined) this.rows.pop();
  }

  private open(): AttemptJson | undefined {
    const last = this.rows.at(-1);
    return last?.finished_at === null ? last : undefined;
  }
}

function numberIn(detail: Detail, key: string): number | null {
  const value = detail[key];
  return typeof value === 'number' ? value : null;
}

function textIn(detail: Detail, key: string): string | null {
  const value = detail[key];
  return typeof value === 'string' ? value : null;
}
