import { expect, it } from 'vitest';
import { SystemRandom } from '../../../../src/adapters/system/system-random.js';

it('SystemRandom spreads over [0, 1)', () => {
  const random = new SystemRandom();
  const numbers = Array.from({ length: 10_000 }, () => random.next());
  expect(numbers.every((n) => n >= 0 && n < 1)).toBe(true);
  expect(new Set(numbers.map((n) => Math.floor(n * 10))).size).toBe(10);
});
