import { describe, expect, it } from 'vitest';
import { BREAKAGES, type Breakage } from './breakage.js';
import { type Violation } from './check-slots.js';
import { planOf } from './plan.js';
import { simulate } from './simulation.js';

const MOST_SEEDS = 500;
const HOURS = 0.1;

/** The rules that a breakage breaks: any of them will do. */
const RULES: Readonly<Record<Breakage, readonly string[]>> = {
  no_unique_key: ['doubled'],
  no_generations: ['late_report'],
  no_epochs: ['twice'],
  no_marks: ['max_concurrent'],
  no_stops: ['stop'],
  publish_before_commit: ['stray_run'],
  from_now_on_takeover: ['lost'],
};

async function firstViolation(breakage: Breakage): Promise<Violation | null> {
  for (let seed = 1; seed <= MOST_SEEDS; seed++) {
    const { violations } = await simulate(planOf(String(seed), HOURS), breakage);
    if (violations[0] !== undefined)
      return violations.find(({ rule }) => RULES[breakage].includes(rule)) ?? violations[0];
  }
  return null;
}

describe(`Within ${MOST_SEEDS} seeds the simulation finds a cluster`, () => {
  it.each(BREAKAGES)('with %s', { timeout: 600_000 }, async (breakage) => {
    const violation = await firstViolation(breakage);
    expect(RULES[breakage]).toContain(violation?.rule);
  });
});
