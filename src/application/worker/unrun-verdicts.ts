import { type Policy } from '../../domain/policy.js';
import { type ClaimAnswer, type PreviousClaim } from '../../ports/claims.js';
import { type TaskSnapshot } from '../../ports/queue.js';
import { type StopRequest } from '../../ports/stops.js';
import { type Verdict } from './run-reports.js';

export type Claimed = Extract<ClaimAnswer, { outcome: 'claimed' }>;

/** Whether an earlier claim may have begun an attempt. Where a check comes first, the queue knows of each attempt before it begins. */
export const wasBegun = (previous: PreviousClaim | null, { hooks }: Pick<TaskSnapshot, 'hooks'>): boolean =>
  previous !== null && !(previous.attempt === 0 && (previous.isHandedBack || hooks.pre !== null));

/** Whether the claim itself reported that the run begins. */
export const hasBegunByClaim = ({ hooks }: TaskSnapshot, { previous, isSaturated, stop }: Claimed): boolean =>
  previous === null && !isSaturated && stop === null && hooks.pre === null;

/** Why a claimed run must not begin; null when it may. `mayBeForgotten`: the queue may have lost an earlier claim of it. */
export function refusalOf(
  task: TaskSnapshot,
  answer: Claimed,
  worker: { readonly mayBeForgotten: boolean; readonly executors: ReadonlyMap<string, unknown> },
): Verdict | null {
  const { previous, isSaturated } = answer;
  const hasBegun = wasBegun(previous, task);
  if ((hasBegun || worker.mayBeForgotten) && !task.policy.isIdempotent) {
    const lost = hasBegun ? `worker ${previous?.worker} was lost` : 'the queue lost data';
    const message = `${lost} after the run may have begun; it is not run again`;
    return { status: 'fail', reason: 'outcome_unknown', message };
  }
  if (isSaturated) return overlapVerdict(task.policy, hasBegun);
  return worker.executors.has(task.executor.type) ? null : unsupported(task, answer);
}

export const unsupported = ({ executor }: TaskSnapshot, { claim }: Claimed): Verdict => ({
  status: 'fail',
  reason: 'unsupported_executor',
  message: `worker ${claim.worker} has no executor "${executor.type}"`,
});

/** What ends a run that was asked to stop before this worker could begin it. What has begun cannot be skipped any more. */
export function stopVerdict(stop: StopRequest, hasBegun: boolean): Verdict {
  if (stop === 'cancelled') {
    const message = hasBegun ? 'cancelled' : 'cancelled before it began';
    return { status: hasBegun ? 'fail' : 'skipped', reason: 'cancelled', message };
  }
  const message = 'a newer run of the task has taken its place';
  return hasBegun
    ? { status: 'fail', reason: 'replaced', message }
    : { status: 'skipped', reason: 'overlap', message };
}

/** What ends a run for which there is no room, and which may not wait for any. */
function overlapVerdict({ overlapPolicy, maxConcurrent }: Policy, hasBegun: boolean): Verdict {
  const why = {
    skip: `already running max_concurrent = ${maxConcurrent} times`,
    queue: 'too many runs of the task wait already: the line is full',
    replace: `the newest max_concurrent = ${maxConcurrent} runs of the task are younger`,
  };
  return { status: hasBegun ? 'fail' : 'skipped', reason: 'overlap', message: why[overlapPolicy] };
}
