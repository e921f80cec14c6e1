import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Policy } from '../../../src/domain/policy.js';
import { planRetryDelayMs } from '../../../src/domain/retry-planner.js';
import { policyOf } from './definition.js';

const noChance = () => {
  throw new Error('chance was asked without jitter');
};
const exponential = (retryMaxIntervalSec: number): Policy =>
  policyOf({
    isIdempotent: true,
    retryCount: 40,
    retryIntervalSec: 1,
    retryStrategy: 'exponential',
    retryMaxIntervalSec,
  });

describe('the delay before a retry', () => {
  it('fixed: 3:00 fails, then 3:01, 3:02, 3:03, then final', () => {
    const policy = policyOf({ isIdempotent: true, retryCount: 3, retryIntervalSec: 60 });
    expect([1, 2, 3, 4].map((failures) => planRetryDelayMs(policy, failures, noChance))).toEqual([
      60_000,
      60_000,
      60_000,
      null,
    ]);
  });

  it('is none at all by default', () => {
    expect(planRetryDelayMs(policyOf(), 1, noChance)).toBeNull();
  });

  it('exponential from 1 s with a cap of 1 h: 1, 2, 4 … 2048 s, then 3600 s', () => {
    const delays = Array.from({ length: 41 }, (_, i) => planRetryDelayMs(exponential(3600), i + 1, noChance));
    const doubling = Array.from({ length: 12 }, (_, i) => 1000 * 2 ** i);
    expect(delays).toEqual([...doubling, ...Array<number>(28).fill(3_600_000), null]);
    expect(doubling.at(-1)).toBe(2_048_000);
  });

  it('goes beyond what a 32-bit timer can hold', () => {
    const days60 = 60 * 86_400;
    expect(planRetryDelayMs(exponential(days60), 23, noChance)).toBe(4_194_304_000);
    expect(planRetryDelayMs(exponential(days60), 24, noChance)).toBe(days60 * 1000);
    expect(planRetryDelayMs({ ...exponential(days60), retryCount: 100 }, 100, noChance)).toBe(days60 * 1000);
  });

  it('never shrinks, never exceeds the cap, whatever the policy', () => {
    const policies = fc.record({
      retryIntervalSec: fc.integer({ min: 1, max: 604_800 }),
      retryMaxIntervalSec: fc.integer({ min: 604_800, max: 5_184_000 }),
      retryStrategy: fc.constantFrom('fixed' as const, 'exponential' as const),
    });
    fc.assert(
      fc.property(policies, fc.integer({ min: 2, max: 100 }), (drawn, failures) => {
        const policy = policyOf({ ...drawn, isIdempotent: true, retryCount: 100 });
        const before = planRetryDelayMs(policy, failures - 1, noChance) ?? NaN;
        const delay = planRetryDelayMs(policy, failures, noChance) ?? NaN;
        expect(delay).toBeGreaterThanOrEqual(before);
        expect(delay).toBeLessThanOrEqual(drawn.retryMaxIntervalSec * 1000);
      }),
    );
  });

  it('with jitter lies evenly between zero and the planned one', () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(chance, fc.integer({ min: 1, max: 40 }), (drawn, failures) => {
        const planned = planRetryDelayMs(exponential(3600), failures, noChance) ?? NaN;
        const policy = { ...exponential(3600), hasRetryJitter: true };
        const delay = planRetryDelayMs(policy, failures, () => drawn) ?? NaN;
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThan(planned);
        expect(Math.abs(delay - planned * drawn)).toBeLessThan(1);
      }),
    );
    const policy = { ...exponential(3600), hasRetryJitter: true };
    expect(planRetryDelayMs(policy, 41, () => 0)).toBeNull();
  });
});
