import { type FieldProblem } from './errors.js';

export type RetryStrategy = 'fixed' | 'exponential';
export const OVERLAP_POLICIES = ['skip', 'queue', 'replace'] as const;
/**
 * What becomes of a run that comes while its task runs `maxConcurrent` times: it is skipped; it waits its turn, in the order of slots; or
 * the oldest of those that run is stopped for it.
 */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];
export type MisfirePolicy = 'fire_once' | 'skip' | 'catch_up';

/** How a task may fail. Units are in the names; counts are whole numbers. */
export interface Policy {
  /** Bounds each attempt from its start to its final result. */
  readonly timeoutSec: number;
  /** Retries after the first attempt; 0 = none. */
  readonly retryCount: number;
  readonly retryIntervalSec: number;
  readonly retryStrategy: RetryStrategy;
  /** Upper bound of an exponential delay. */
  readonly retryMaxIntervalSec: number;
  /** Full jitter: the delay is drawn evenly from zero to the planned one. */
  readonly hasRetryJitter: boolean;
  /** A run that takes longer is marked slow, and goes on; null: none is. */
  readonly slowAfterSec: number | null;
  readonly maxConcurrent: number;
  readonly overlapPolicy: OverlapPolicy;
  readonly misfirePolicy: MisfirePolicy;
  /** `catch_up` only: how many missed slots are made up for at most, the newest ones. */
  readonly misfireLimit: number;
  /** `catch_up` only: missed slots older than this are skipped. */
  readonly misfireMaxAgeSec: number;
  /** Length of the trigger window; a slot fired within it is on time. */
  readonly windowSec: number;
  /** The owner's word that running twice equals running once. */
  readonly isIdempotent: boolean;
}

export const DEFAULT_POLICY: Policy = {
  timeoutSec: 30,
  retryCount: 0,
  retryIntervalSec: 10,
  retryStrategy: 'fixed',
  retryMaxIntervalSec: 3600,
  hasRetryJitter: false,
  slowAfterSec: null,
  maxConcurrent: 1,
  overlapPolicy: 'skip',
  misfirePolicy: 'fire_once',
  misfireLimit: 10,
  misfireMaxAgeSec: 86_400,
  windowSec: 5,
  isIdempotent: false,
};

const DAY_SEC = 86_400;

/** API name and inclusive range of every whole-number member. */
const RANGES: readonly { key: keyof Policy; field: string; min: number; max: number }[] = [
  { key: 'timeoutSec', field: 'timeout_sec', min: 1, max: 7 * DAY_SEC },
  { key: 'retryCount', field: 'retry_count', min: 0, max: 100 },
  { key: 'retryIntervalSec', field: 'retry_interval', min: 1, max: 7 * DAY_SEC },
  { key: 'retryMaxIntervalSec', field: 'retry_max_interval', min: 1, max: 60 * DAY_SEC },
  { key: 'slowAfterSec', field: 'slow_after_sec', min: 1, max: 7 * DAY_SEC },
  { key: 'maxConcurrent', field: 'max_concurrent', min: 1, max: 1000 },
  { key: 'misfireLimit', field: 'misfire_limit', min: 1, max: 1000 },
  { key: 'misfireMaxAgeSec', field: 'misfire_max_age_sec', min: 1, max: 366 * DAY_SEC },
  { key: 'windowSec', field: 'window_sec', min: 1, max: DAY_SEC },
];

/** Every broken invariant of a policy, by API field; empty when it holds. */
export function policyProblems(policy: Policy): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const { key, field, min, max } of RANGES) {
    const value = policy[key];
    if (value === null && DEFAULT_POLICY[key] === null) continue;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) continue;
    problems.push({
      field,
      problem: `${value} is out of range`,
      fix: `give a whole number from ${min} to ${max}`,
    });
  }
  if (policy.retryCount > 0 && !policy.isIdempotent) {
    problems.push({
      field: 'retry_count',
      problem: 'a task that is not idempotent has no retries',
      fix: 'set idempotent to true if running twice does no harm, or retry_count to 0',
    });
  }
  if (policy.retryStrategy === 'exponential' && policy.retryMaxIntervalSec < policy.retryIntervalSec) {
    problems.push({
      field: 'retry_max_interval',
      problem: 'is shorter than retry_interval',
      fix: 'give at least retry_interval',
    });
  }
  return problems;
}
