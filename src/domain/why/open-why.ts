import { type Execution, type LedgerKind } from '../execution.js';
import { type Reason } from '../reason.js';
import { atTime, because, type ExecutionCase, lastOf, unreported, type Verdict } from './verdict.js';

/** Begun, and not ended as far as the store knows. */
export function explainOpen(executionCase: ExecutionCase): Verdict {
  const { execution, ledger, say, live } = executionCase;
  const { worker, status } = execution;
  const attempt = attemptOf(execution);
  const since = ledger.findLast(({ kind }) => STARTS.has(kind))?.at ?? execution.startedAt;
  const begun = `began attempt ${attempt}${atTime(say, since)} on ${worker ?? 'a worker'}`;
  const evidence = { worker, attempt, since };
  switch (live.runState) {
    case 'finished':
      return { ...unreported(executionCase, begun), evidence };
    case 'unknown': {
      const text = `${begun}, and the queue has lost it: the leader settles it, by another run only if the task is idempotent`;
      return { code: 'queue_lost', text, evidence };
    }
    case 'queued':
    case 'waiting': {
      const text = `${begun}, and that worker holds it no longer (it died, or handed it back): the next worker takes it over`;
      return { code: 'worker_lost', text, evidence };
    }
    default:
      return status === 'retrying' ? retrying(executionCase) : running(executionCase, since);
  }
}

/** The first attempt begins with the claim and has no report of its own. */
const attemptOf = ({ attempt }: Execution): number => Math.max(1, attempt);

const STARTS: ReadonlySet<LedgerKind> = new Set(['claimed', 'resumed', 'attempt_started']);

function running({ execution, ledger, say, live }: ExecutionCase, since: number | null): Verdict {
  const { worker } = execution;
  const attempt = attemptOf(execution);
  const ofAttempt = (kind: LedgerKind) =>
    ledger.findLast((entry) => entry.kind === kind && entry.detail['attempt'] === attempt);
  const receiptUntil = ofAttempt('delivered')?.detail['receipt_until'];
  const slow = lastOf(ledger, 'slow');
  const isGone = worker !== null && live.instances !== null && !live.instances.includes(worker);
  const notes = [
    ...(typeof receiptUntil === 'number' ? [`awaiting a receipt until ${say(receiptUntil)}`] : []),
    ...(slow === undefined ? [] : [`slow since ${say(slow.at)}`]),
    ...(isGone ? ['that worker does not announce itself any more: if it died, its claim will run out'] : []),
    ...(live.runState === null ? ['as recorded last, since the queue did not answer'] : []),
  ];
  return {
    code: 'running',
    text: `runs on ${worker ?? 'a worker'}${since === null ? '' : ` since ${say(since)}`} (attempt ${attempt})${notes.map((note) => `; ${note}`).join('')}`,
    evidence: {
      worker,
      attempt,
      since,
      receipt_until: receiptUntil ?? null,
      slow_since: slow?.at ?? null,
      is_worker_live: live.instances === null ? null : !isGone,
    },
  };
}

function retrying({ execution, ledger, say }: ExecutionCase): Verdict {
  const { worker, attempt } = execution;
  const planned = lastOf(ledger, 'retry_planned');
  const failed = lastOf(ledger, 'attempt_failed');
  const retryAt = planned?.detail['retry_at'];
  const until = typeof retryAt === 'number' ? ` at ${say(retryAt)}` : '';
  const cause = because({
    reason: (failed?.detail['reason'] ?? null) as Reason | null,
    message: (failed?.detail['message'] ?? null) as string | null,
  });
  return {
    code: 'retrying',
    text: `failed in attempt ${attempt}${cause}; attempt ${attempt + 1} comes${until} on ${worker ?? 'a worker'}`,
    evidence: { worker, attempt, retry_at: retryAt ?? null },
  };
}
