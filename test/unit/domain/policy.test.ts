import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type Policy, policyProblems } from '../../../src/domain/policy.js';
import { createTask } from '../../../src/domain/task.js';
import { definition, policyOf } from './definition.js';
import { problemsOf } from './problems-of.js';

const NOW = Date.UTC(2026, 0, 5, 12);
const refusalsOf = (policy: Policy) => problemsOf(() => createTask('t', definition({ policy }), NOW));

it('the default policy holds', () => {
  expect(policyProblems(DEFAULT_POLICY)).toEqual([]);
});

describe('a policy that cannot hold is refused', () => {
  const ranges: readonly [keyof Policy, field: string, min: number, max: number][] = [
    ['timeoutSec', 'timeout_sec', 1, 604_800],
    ['retryCount', 'retry_count', 0, 100],
    ['retryIntervalSec', 'retry_interval', 1, 604_800],
    ['retryMaxIntervalSec', 'retry_max_interval', 1, 5_184_000],
    ['maxConcurrent', 'max_concurrent', 1, 1000],
    ['misfireLimit', 'misfire_limit', 1, 1000],
    ['misfireMaxAgeSec', 'misfire_max_age_sec', 1, 31_622_400],
    ['windowSec', 'window_sec', 1, 86_400],
  ];

  it.each(ranges)('%s, in the API %s, is a whole number from %d to %d', (key, field, min, max) => {
    const refused = (value: unknown) => refusalsOf(policyOf({ isIdempotent: true, [key]: value }));
    for (const value of [min - 1, max + 1, min + 0.5, NaN, Infinity, -Infinity, '7', null]) {
      expect(refused(value)).toContainEqual({
        field,
        problem: `${String(value)} is out of range`,
        fix: `give a whole number from ${min} to ${max}`,
      });
    }
    for (const value of [min, max]) {
      expect(policyProblems(policyOf({ isIdempotent: true, [key]: value }))).toEqual([]);
    }
  });

  it('retries of a task that is not idempotent', () => {
    expect(refusalsOf(policyOf({ retryCount: 1 }))).toEqual([
      {
        field: 'retry_count',
        problem: 'a task that is not idempotent has no retries',
        fix: expect.stringContaining('set idempotent to true') as string,
      },
    ]);
  });

  it('a longest delay below the first one, where it matters', () => {
    const policy = policyOf({ retryIntervalSec: 60, retryMaxIntervalSec: 59 });
    expect(refusalsOf({ ...policy, retryStrategy: 'exponential' })).toEqual([
      {
        field: 'retry_max_interval',
        problem: 'is shorter than retry_interval',
        fix: 'give at least retry_interval',
      },
    ]);
    expect(policyProblems(policy)).toEqual([]);
  });
});
