import { decideDue, type DueDecision } from '../../../src/domain/misfire.js';
import { type Policy } from '../../../src/domain/policy.js';
import { FireTimes, type Schedule } from '../../../src/domain/schedule.js';
import { TaskSlots } from '../../../src/domain/timetable.js';
import { policyOf } from './definition.js';

export const decide = (
  schedule: Schedule,
  policy: Partial<Policy>,
  cursor: number,
  now: number,
  times = new FireTimes(),
): DueDecision =>
  decideDue({
    taskId: 'task',
    slots: new TaskSlots({ schedule, former: [] }, times),
    policy: policyOf(policy),
    cursor,
    now,
  });

/** Fired slots with their instants and flags, deciding when told to, until `end`. */
export function firedUntil(
  schedule: Schedule,
  policy: Partial<Policy>,
  cursor: number,
  now: number,
  end: number,
) {
  const fired: { slot: number; at: number; isMisfire: boolean }[] = [];
  for (let slot: number | null = cursor, at = now; slot !== null && at <= end;) {
    const decision = decide(schedule, policy, slot, at);
    if (decision.fire !== null) fired.push({ ...decision.fire, at });
    slot = decision.nextSlot;
    at = decision.holdUntil ?? Math.max(at, slot ?? at);
  }
  return fired;
}
