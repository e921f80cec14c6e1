import { describe, expect, it } from 'vitest';
import { planOf } from './plan.js';
import { simulate } from './simulation.js';

const RUNS = 200;
const GROUPS = 10;
const HOURS = 0.05;

describe(`Under ${RUNS} seeds of faults no guarantee is broken`, () => {
  it.each(Array.from({ length: GROUPS }, (_, i) => i))('in group %i', { timeout: 300_000 }, async (group) => {
    for (let i = 0; i < RUNS / GROUPS; i++) {
      const seed = String(10_000 + group * (RUNS / GROUPS) + i);
      const { violations, events } = await simulate(planOf(seed, HOURS));
      expect(violations.map(({ text }) => `seed ${seed}: ${text}`)).toEqual([]);
      expect(events.length).toBeGreaterThan(0);
    }
  });
});
