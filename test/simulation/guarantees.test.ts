import { describe, expect, it } from 'vitest';
import { planOf } from './plan.js';
import { simulate } from './simulation.js';

const GROUP = 20;

/** The short ones are the denser: most of their time is full of faults and of what they leave behind. */
const CAMPAIGNS = [
  { runs: 200, hours: 0.05, firstSeed: 10_000 },
  { runs: 100, hours: 1, firstSeed: 20_000 },
];

describe.each(CAMPAIGNS)('Under $runs seeds of faults, $hours h each, no guarantee is broken', (campaign) => {
  const { runs, hours, firstSeed } = campaign;
  const groups = Array.from({ length: runs / GROUP }, (_, i) => firstSeed + i * GROUP);

  it.each(groups)('from seed %i on', { timeout: 600_000 }, async (first) => {
    for (let seed = first; seed < first + GROUP; seed++) {
      const { violations, events } = await simulate(planOf(String(seed), hours));
      expect(violations.map(({ text }) => `seed ${seed}: ${text}`)).toEqual([]);
      expect(events.length).toBeGreaterThan(0);
    }
  });
});
