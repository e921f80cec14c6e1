import { type DueDecision } from '../../../src/domain/misfire.js';
import { type Policy } from '../../../src/domain/policy.js';

export type Verdict = Pick<DueDecision, 'fire' | 'nextSlot'> & {
  readonly skipped: {
    readonly reason: 'misfire';
    readonly from: number;
    readonly to: number;
    readonly slots: number;
  } | null;
};

/**
 * What to decide, worked out from the list of all undecided slots (in order, the first is the cursor, at least one lies after `now` unless
 * the schedule ends).
 */
export function verdictOf(slots: readonly number[], policy: Policy, now: number): Verdict {
  const missed = slots.filter((slot) => slot + policy.windowSec * 1000 < now);
  const onTime = slots.filter((slot) => slot <= now && !missed.includes(slot));
  const madeUp = slotsToMakeUp(missed, policy, now);
  const toFire = [...madeUp, ...onTime];
  const fired = toFire[0];
  const dropped = missed.filter((slot) => slot < (madeUp[0] ?? Infinity));
  const [from, to] = [dropped[0], dropped.at(-1)];
  const decided = fired ?? to ?? -Infinity;
  return {
    fire: fired === undefined ? null : { slot: fired, isMisfire: missed.includes(fired) },
    skipped:
      from === undefined || to === undefined ? null : { reason: 'misfire', from, to, slots: dropped.length },
    nextSlot: slots.find((slot) => slot > decided) ?? null,
  };
}

function slotsToMakeUp(missed: readonly number[], policy: Policy, now: number): readonly number[] {
  switch (policy.misfirePolicy) {
    case 'skip':
      return [];
    case 'fire_once':
      return missed.slice(-1);
    case 'catch_up':
      return missed
        .filter((slot) => slot >= now - policy.misfireMaxAgeSec * 1000)
        .slice(-policy.misfireLimit);
  }
}
