import { type Breakage } from './breakage.js';
import { type Plan, type Step } from './plan.js';
import { type Result, simulate } from './simulation.js';

export interface Shrunk {
  readonly plan: Plan;
  readonly result: Result;
}

/**
 * A plan with as few steps as possible that still breaks the same rule: parts of the steps are left out, first large ones and at last
 * one by one, and the time is cut after the first violation.
 */
export async function shrink(plan: Plan, result: Result, breakage: Breakage | null = null): Promise<Shrunk> {
  const rule = result.violations[0]?.rule;
  let best: Shrunk = { plan, result };
  const accept = async (steps: readonly Step[], ms: number): Promise<boolean> => {
    const smaller = { ...best.plan, steps, ms };
    const tried = await simulate(smaller, breakage);
    if (!tried.violations.some((violation) => violation.rule === rule)) return false;
    best = { plan: smaller, result: tried };
    return true;
  };
  for (let ms = best.plan.ms / 2; ms >= 30_000; ms /= 2)
    if (
      !(await accept(
        best.plan.steps.filter(({ at }) => at <= ms),
        ms,
      ))
    )
      break;
  for (let size = best.plan.steps.length >> 1; size >= 1; size >>= 1) {
    for (let start = 0; start < best.plan.steps.length;) {
      const steps = best.plan.steps.toSpliced(start, size);
      if (!(await accept(steps, best.plan.ms))) start += size;
    }
  }
  return best;
}
