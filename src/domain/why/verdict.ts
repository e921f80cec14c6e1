import { type Execution, type LedgerEntry, type LedgerKind } from '../execution.js';
import { type LiveFacts, type Say, type Why, type WhyCode } from './why.js';

/** A recorded event and what became of it. */
export interface ExecutionCase {
  readonly execution: Execution;
  readonly ledger: readonly LedgerEntry[];
  readonly say: Say;
  readonly live: LiveFacts;
}

/** Code and words of one link; the name of the run comes before `text`. */
export interface Verdict {
  readonly code: WhyCode;
  readonly text: string;
  readonly evidence?: Why['evidence'];
}

/** The queue is ahead of the store. */
export function unreported({ live }: ExecutionCase, begin: string): Verdict {
  if (live.runState === 'claimed') {
    const text = `${begin}; a worker has claimed it, and its report is not in the store yet`;
    return { code: 'claimed', text };
  }
  const text = `${begin}; it has finished and its result is reported, but not in the store yet: no collector runs, or it cannot reach the store`;
  return { code: 'not_persisted', text };
}

/** The latest entry of a kind. */
export const lastOf = (ledger: readonly LedgerEntry[], wanted: LedgerKind): LedgerEntry | undefined =>
  ledger.findLast(({ kind }) => kind === wanted);

/** ` at …`, or nothing. */
export const atTime = (say: Say, instant: number | null): string =>
  instant === null ? '' : ` at ${say(instant)}`;

/** `: …`, or nothing. */
export const said = (message: string | null): string => (message === null ? '' : `: ${message}`);

/** ` (reason): message`, as far as there are any. */
export const because = ({ reason, message }: Pick<Execution, 'reason' | 'message'>): string =>
  `${reason === null ? '' : ` (${reason})`}${said(message)}`;
