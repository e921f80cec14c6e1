import { type Cron, cronProblems, type CronRule, DEFAULT_CRON, parseCron } from '../../../src/domain/cron.js';
import { type FieldProblem } from '../../../src/domain/errors.js';

const ruleOf = (expr: string, timezone: string, more: Partial<CronRule>): CronRule => ({
  ...DEFAULT_CRON,
  expr,
  timezone,
  ...more,
});

/** An expression in a zone, with the default rules unless others are given. */
export const cronOf = (expr: string, timezone: string, more: Partial<CronRule> = {}): Cron =>
  parseCron(ruleOf(expr, timezone, more));

/** What is wrong with it. */
export const problemsIn = (
  expr: string,
  timezone = 'UTC',
  more: Partial<CronRule> = {},
): readonly FieldProblem[] => cronProblems(ruleOf(expr, timezone, more));

/** The first `n` slots after an instant, fewer if there are no more. */
export function slotsAfter(cron: Cron, after: number, n: number): number[] {
  const slots: number[] = [];
  for (let slot = cron.next(after); slot !== null && slots.length < n; slot = cron.next(slot)) {
    slots.push(slot);
  }
  return slots;
}
