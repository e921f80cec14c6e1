import { type Policy } from '../../domain/policy.js';
import { type StopRequest } from '../../ports/stops.js';
import { type Verdict } from './run-reports.js';

/** What ends a run that was asked to stop before this worker could begin it. What has begun cannot be skipped any more. */
export function stopVerdict(stop: StopRequest, wasBegun: boolean): Verdict {
  if (stop === 'cancelled') {
    const message = wasBegun ? 'cancelled' : 'cancelled before it began';
    return { status: wasBegun ? 'fail' : 'skipped', reason: 'cancelled', message };
  }
  const message = 'a newer run of the task has taken its place';
  return wasBegun
    ? { status: 'fail', reason: 'replaced', message }
    : { status: 'skipped', reason: 'overlap', message };
}

/** What ends a run for which there is no room, and which may not wait for any. */
export function overlapVerdict({ overlapPolicy, maxConcurrent }: Policy, wasBegun: boolean): Verdict {
  const why = {
    skip: `already running max_concurrent = ${maxConcurrent} times`,
    queue: 'too many runs of the task wait already: the line is full',
    replace: `the newest max_concurrent = ${maxConcurrent} runs of the task are younger`,
  };
  return { status: wasBegun ? 'fail' : 'skipped', reason: 'overlap', message: why[overlapPolicy] };
}
