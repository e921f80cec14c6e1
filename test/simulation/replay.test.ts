import { describe, expect, it } from 'vitest';
import { planOf } from './plan.js';
import { shrink } from './shrink.js';
import { simulate } from './simulation.js';
import { storyOf } from './story.js';

const MINUTES = 1 / 60;

describe('A simulation', { timeout: 240_000 }, () => {
  it('is the same for the same seed, to the last line of its log', async () => {
    const first = storyOf(await simulate(planOf('6', 6 * MINUTES)));
    expect(first.length).toBeGreaterThan(100);
    expect(storyOf(await simulate(planOf('6', 6 * MINUTES)))).toEqual(first);
  });

  it('is another one for another seed', async () => {
    const [one, two] = [await simulate(planOf('6', 3 * MINUTES)), await simulate(planOf('7', 3 * MINUTES))];
    expect(storyOf(one)).not.toEqual(storyOf(two));
  });

  it('that breaks a rule shrinks to few steps that break it still, and tells what happened', async () => {
    const breakage = 'from_now_on_takeover';
    const plan = planOf('2', 6 * MINUTES);
    const result = await simulate(plan, breakage);
    expect(result.violations[0]?.rule).toBe('lost');
    const short = await shrink(plan, result, breakage);
    expect(short.plan.steps.length).toBeLessThanOrEqual(4);
    const again = await simulate(short.plan, breakage);
    const violation = again.violations.find(({ rule }) => rule === 'lost');
    expect(violation).toBeDefined();
    const story = storyOf(again, violation);
    expect(story).toEqual(storyOf(short.result, violation));
    expect(story.length).toBeLessThan(100);
    expect(story.join('\n')).toContain('"do":"create"');
  });
});
