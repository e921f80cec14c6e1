import { type LedgerKind, type Status } from './execution.js';
import { type Policy } from './policy.js';
import { type Reason } from './reason.js';
import { planRetryDelayMs } from './retry-planner.js';
import { type TriggerEvent } from './trigger.js';

/** A line of the ledger as far as it tells which runs began. */
export interface RecordedStep {
  readonly kind: LedgerKind;
  /** Of the claim; 0 for the coordinator. */
  readonly generation: number;
  readonly node: string;
  /** Epoch ms. */
  readonly at: number;
  /** The attempt that it names; 0: none ran; null when it names none. */
  readonly attempt: number | null;
}

/** A trigger event and what became of it. */
export interface RecordedEvent extends Pick<
  TriggerEvent,
  'id' | 'taskId' | 'kind' | 'slot' | 'windowStart' | 'windowEnd' | 'firedAt' | 'isMisfire' | 'rangeEnd'
> {
  readonly status: Status;
  readonly reason: Reason | null;
  readonly attempt: number;
  /** Start of the first attempt, epoch ms. */
  readonly startedAt: number | null;
  readonly steps: readonly RecordedStep[];
}

/**
 * Why an event ran twice without the ledger counting it as another attempt; null if it did not. `policies`: all that were in force
 * while it ran. A task that is not idempotent has one attempt. Others may have many, but no number twice under two claims, unless numbers
 * began again: the queue lost the run and it was published once more, or a claim says that it takes over from a forgotten one.
 */
export function doubleRunOf(
  steps: readonly RecordedStep[],
  policies: readonly Policy[] | null,
): string | null {
  const claims = claimsOf(steps);
  const begun = claims.flatMap((claim) => claim.attempts.map((attempt) => nameOf(claim, attempt)));
  const isAtMostOnce = policies !== null && policies.length > 0 && policies.every((p) => !p.isIdempotent);
  if (isAtMostOnce && begun.length > 1)
    return `the task is not idempotent and ${begun.length} attempts began (${begun.join(', ')})`;
  if (steps.some(({ kind }) => kind === 'republished')) return null;
  const numbers = claims.filter(({ takesOver }) => !takesOver).flatMap(({ attempts }) => attempts);
  const twice = numbers.find((number, i) => number !== null && numbers.indexOf(number) < i);
  return twice === undefined ? null : `attempt ${twice} began under two claims`;
}

interface ClaimedAttempts {
  readonly generation: number;
  readonly node: string;
  readonly takesOver: boolean;
  /** Those that began; null where only the claim tells of one. */
  readonly attempts: readonly (number | null)[];
}

/**
 * A claim alone stands for an attempt, unless it says that none ran; one that resumes an attempt only waited for its receipt. Two workers have
 * one generation if the queue forgot the first.
 */
function claimsOf(steps: readonly RecordedStep[]): ClaimedAttempts[] {
  const claims = new Map<string, RecordedStep[]>();
  for (const step of steps.filter(({ generation }) => generation > 0)) {
    const key = `${step.generation} ${step.node}`;
    claims.set(key, [...(claims.get(key) ?? []), step]);
  }
  return [...claims.values()].map((own) => {
    const { generation = 0, node = '' } = own[0] ?? {};
    const told = [...new Set(own.flatMap((step) => (tellsOfAttempt(step) ? [step.attempt] : [])))];
    const hasBegun = own.some(({ kind }) => kind === 'claimed') && !own.some(({ attempt }) => attempt === 0);
    const resumed = own.find(({ kind }) => kind === 'resumed')?.attempt;
    const attempts = (told.length > 0 ? told : hasBegun ? [null] : []).filter((number) => number !== resumed);
    return { generation, node, takesOver: own.some(({ kind }) => kind === 'reclaimed'), attempts };
  });
}

const nameOf = ({ generation, node }: ClaimedAttempts, attempt: number | null): string =>
  `${attempt === null ? 'one' : `number ${attempt}`} on ${node} by claim ${generation}`;

const tellsOfAttempt = ({ kind, attempt }: RecordedStep): boolean =>
  attempt !== null &&
  attempt > 0 &&
  (kind === 'attempt_started' || kind === 'attempt_failed' || kind === 'finished');

/** An event may wait for a worker this long, and a run may exceed its time by this much (queueing, reclaiming, the report's way). */
export const PENDING_GRACE_MS = 600_000;
export const RUNNING_GRACE_MS = 300_000;

/**
 * Until when an event that is still pending waits lawfully, epoch ms; a run that was handed back waits anew, and one in the line of its
 * task for as long as others run.
 */
export const pendingBound = ({ firedAt, steps }: RecordedEvent): number =>
  latestKind(steps) === 'waiting'
    ? Infinity
    : PENDING_GRACE_MS +
      steps.reduce((since, { kind, at }) => (isNewWait(kind) ? Math.max(since, at) : since), firedAt);

/** A run that was handed back, or whose check failed, waits anew. */
const isNewWait = (kind: LedgerKind): boolean => kind === 'handed_back' || kind === 'precheck_failed';

const latestKind = (steps: readonly RecordedStep[]): LedgerKind | undefined =>
  steps.reduce<RecordedStep | undefined>((last, step) => (last && last.at > step.at ? last : step), undefined)
    ?.kind;

/** Until when a run lasts lawfully at most, epoch ms: all attempts in full length, all planned delays without jitter, and a grace. */
export function runningBound(
  { startedAt, firedAt, attempt }: RecordedEvent,
  policies: readonly Policy[],
): number {
  const longest = policies.map((policy) => {
    const attempts = Math.max(policy.retryCount + 1, attempt);
    let delaysMs = 0;
    for (let failures = 1; failures <= policy.retryCount; failures++) {
      delaysMs += planRetryDelayMs({ ...policy, hasRetryJitter: false }, failures, () => 0) ?? 0;
    }
    return attempts * policy.timeoutSec * 1000 + delaysMs;
  });
  return (startedAt ?? firedAt) + Math.max(0, ...longest) + RUNNING_GRACE_MS;
}
