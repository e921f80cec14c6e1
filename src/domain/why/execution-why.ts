import { type Execution, type LedgerEntry, type LedgerKind } from '../execution.js';
import { type Reason } from '../reason.js';
import { type LiveFacts, type Say, type Why, type WhyCode } from './why.js';

/** A recorded event and what became of it. */
export interface ExecutionCase {
  readonly execution: Execution;
  readonly ledger: readonly LedgerEntry[];
  readonly say: Say;
  readonly live: LiveFacts;
}

interface Verdict {
  readonly code: WhyCode;
  /** What is said after the name of the run. */
  readonly text: string;
  readonly evidence?: Why['evidence'];
}

/** How far a run came, from what is recorded and, while it has not ended, from what the queue says of it. */
export function explainExecution(executionCase: ExecutionCase): Why {
  const { execution, say, live } = executionCase;
  const { event } = execution;
  const { code, text, evidence = {} } = verdictOf(executionCase);
  const name = `${event.kind === 'manual' ? 'The run by hand' : 'The slot'} of ${say(event.slot)}`;
  const late = event.isMisfire && execution.status !== 'skipped' && execution.status !== 'pending';
  const misfire = late ? ` was made up for at ${say(event.firedAt)} and` : '';
  const asked = live.runState === null ? {} : { queue_state: live.runState };
  return {
    code,
    slot: event.slot,
    summary: `${name}${misfire} ${text}.`,
    evidence: { ...evidence, ...asked },
  };
}

function verdictOf(executionCase: ExecutionCase): Verdict {
  const { execution, say } = executionCase;
  const { status, reason, finishedAt, attempt } = execution;
  const inAttempt = attempt === 0 ? '' : ` in attempt ${attempt}`;
  switch (status) {
    case 'pending':
      return pending(executionCase);
    case 'running':
    case 'retrying':
      return open(executionCase);
    case 'skipped':
      return skipped(executionCase);
    case 'success':
      return { code: 'succeeded', text: `succeeded${at(say, finishedAt)}${inAttempt}` };
    case 'timeout':
      return {
        code: 'timed_out',
        text: `timed out${at(say, finishedAt)}${inAttempt}${why(execution)}`,
      };
    case 'fail':
      return reason === 'outcome_unknown'
        ? {
            code: 'outcome_unknown',
            text: `has ended${at(say, finishedAt)} and nobody knows how${why(execution)}`,
          }
        : { code: 'failed', text: `failed${at(say, finishedAt)}${inAttempt}${why(execution)}` };
  }
}

/** Triggered, and no report of a worker is in the store. */
function pending(executionCase: ExecutionCase): Verdict {
  const { execution, ledger, say, live } = executionCase;
  const fired = `was triggered at ${say(execution.event.firedAt)} by ${execution.event.node}`;
  const waiting = last(ledger, 'waiting');
  if (execution.reason === 'precheck' && live.runState !== 'finished') return checking(executionCase, fired);
  switch (live.runState) {
    case 'finished':
    case 'claimed':
      return unreported(executionCase, fired);
    case 'waiting':
      return inLine(fired, waiting);
    case 'unknown': {
      const text = `${fired} and is not in the queue: not published yet, or lost with the queue's data; the leader publishes it again`;
      return { code: 'not_published', text };
    }
    case 'queued':
      return queued(executionCase, fired);
    case null: {
      if (waiting !== undefined && ledger.at(-1) === waiting) return inLine(fired, waiting);
      const text = `${fired} and no worker has reported it; the queue did not answer, so ax cannot tell how far it came`;
      return { code: 'triggered', text, evidence: { missing: 'what the queue says of the run' } };
    }
  }
}

/** A check before the run failed and is made again. */
function checking({ execution, ledger, say }: ExecutionCase, fired: string): Verdict {
  const { retry_at: retryAt = null, check = null } = last(ledger, 'precheck_failed')?.detail ?? {};
  const again = typeof retryAt === 'number' ? ` and is made again at ${say(retryAt)}` : '';
  const text = `${fired}; the check before it did not pass${said(execution.message)}${again}`;
  return { code: 'precheck', text, evidence: { check, retry_at: retryAt } };
}

function queued({ ledger, live, say }: ExecutionCase, fired: string): Verdict {
  const { workers, queue } = live;
  const handed = last(ledger, 'handed_back');
  const back = handed === undefined ? '' : `, was handed back by ${handed.node} at ${say(handed.at)}`;
  if (workers !== null && workers.problem !== null) {
    const evidence = { live_workers: workers.live, problem: workers.problem };
    return {
      code: 'no_worker',
      text: `${fired}${back} and waits in the queue: ${workers.problem}`,
      evidence,
    };
  }
  const served =
    workers === null ? 'how many workers serve it is not known' : `${workers.live} live workers serve it`;
  const before = queue === null ? '' : `, ${queue.depth} messages are in the queue`;
  const evidence = { live_workers: workers?.live ?? null, queue_depth: queue?.depth ?? null };
  return {
    code: 'not_claimed',
    text: `${fired}${back} and waits for a worker: ${served}${before}`,
    evidence,
  };
}

function inLine(fired: string, waiting: LedgerEntry | undefined): Verdict {
  const most = waiting?.detail['max_concurrent'];
  const room = most === undefined ? 'max_concurrent' : `max_concurrent = ${JSON.stringify(most)}`;
  const text = `${fired} and waits its turn in the line of the task, which runs ${room} times already`;
  return {
    code: 'waiting_overlap',
    text,
    evidence: { waiting_since: waiting?.at ?? null, ...waiting?.detail },
  };
}

/** The queue is ahead of the store. */
function unreported({ live }: ExecutionCase, begin: string): Verdict {
  if (live.runState === 'claimed') {
    const text = `${begin}; a worker has claimed it, and its report is not in the store yet`;
    return { code: 'claimed', text };
  }
  const text = `${begin}; it has finished and its result is reported, but not in the store yet: no collector runs, or it cannot reach the store`;
  return { code: 'not_persisted', text };
}

/** Begun, and not ended as far as the store knows. */
function open(executionCase: ExecutionCase): Verdict {
  const { execution, ledger, say, live } = executionCase;
  const { worker, status } = execution;
  const attempt = attemptOf(execution);
  const since = ledger.findLast(({ kind }) => STARTS.has(kind))?.at ?? execution.startedAt;
  const begun = `began attempt ${attempt}${at(say, since)} on ${worker ?? 'a worker'}`;
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
  const slow = last(ledger, 'slow');
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
  const planned = last(ledger, 'retry_planned');
  const failed = last(ledger, 'attempt_failed');
  const retryAt = planned?.detail['retry_at'];
  const until = typeof retryAt === 'number' ? ` at ${say(retryAt)}` : '';
  const because = why({
    reason: (failed?.detail['reason'] ?? null) as Reason | null,
    message: (failed?.detail['message'] ?? null) as string | null,
  });
  return {
    code: 'retrying',
    text: `failed in attempt ${attempt}${because}; attempt ${attempt + 1} comes${until} on ${worker ?? 'a worker'}`,
    evidence: { worker, attempt, retry_at: retryAt ?? null },
  };
}

/** Never begun, by reason: code, and what is said of it. */
const SKIPPED: Readonly<Record<string, readonly [WhyCode, string]>> = {
  calendar: ['calendar', 'was left out by the calendar of the task'],
  duplicate: ['duplicate_refused', 'was refused, as another event of the same slot was published before'],
  overlap: ['overlap_skipped', 'was skipped, as the task ran already'],
  cancelled: ['cancelled', 'was cancelled before it began'],
  precheck: ['precheck', 'was skipped, as the check before it did not pass'],
  deleted: ['deleted', 'was skipped, as the task was deleted before it was published'],
};

function skipped({ execution, ledger, say }: ExecutionCase): Verdict {
  const { event, reason, message, finishedAt } = execution;
  const detail = last(ledger, 'finished')?.detail ?? {};
  if (reason === 'misfire') {
    const range = event.rangeEnd === null ? '' : ` with all slots up to ${say(event.rangeEnd)}`;
    const text = `was missed and skipped${range}, as decided at ${say(event.firedAt)}${said(message)}`;
    return { code: 'misfire_skipped', text, evidence: { ...detail, range_end: event.rangeEnd } };
  }
  const [code, text] = (reason === null ? undefined : SKIPPED[reason]) ?? [
    'skipped',
    `was skipped (${reason})`,
  ];
  return { code, text: `${text}${at(say, finishedAt)}${said(message)}`, evidence: detail };
}

const last = (ledger: readonly LedgerEntry[], wanted: LedgerKind): LedgerEntry | undefined =>
  ledger.findLast(({ kind }) => kind === wanted);

const at = (say: Say, instant: number | null): string => (instant === null ? '' : ` at ${say(instant)}`);

const said = (message: string | null): string => (message === null ? '' : `: ${message}`);

const why = ({ reason, message }: Pick<Execution, 'reason' | 'message'>): string =>
  `${reason === null ? '' : ` (${reason})`}${said(message)}`;
