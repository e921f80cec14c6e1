import { DEFAULT_POLICY, type Policy, policyProblems } from '../../domain/policy.js';
import { isBroken, type BrokenTask, type Task } from '../../domain/task.js';
import { type KnownState, type TaskState } from '../../domain/task-history.js';
import { type KnownCalendars } from './stored-calendars.js';
import { isInstantOrNull, restoreFormer, restoreSchedule } from './stored-schedule.js';

/** The part of a stored task that its history needs. */
export function stateOf(task: Task | BrokenTask | null): KnownState {
  if (task === null) return 'absent';
  return isBroken(task) ? 'unreadable' : pick(task);
}

const pick = ({
  schedule,
  former,
  policy,
  isEnabled,
  nextTriggerTime,
  version,
  createdAt,
  updatedAt,
}: TaskState) => ({
  schedule,
  former,
  policy,
  isEnabled,
  nextTriggerTime,
  version,
  createdAt,
  updatedAt,
});

/** The same of a task as the audit log holds it, the domain's JSON of it, maybe of an older ax; nothing is taken for granted. */
export function auditedState(json: string, calendars: KnownCalendars): KnownState {
  try {
    const value: unknown = JSON.parse(json);
    if (value === null) return 'absent';
    const state = value as TaskState;
    const policy: Policy = { ...DEFAULT_POLICY, ...state.policy };
    const schedule = restoreSchedule(state.schedule, calendars);
    const former = restoreFormer(state.former ?? [], calendars);
    const isWhole =
      typeof state.isEnabled === 'boolean' &&
      [state.version, state.createdAt, state.updatedAt].every(Number.isSafeInteger) &&
      isInstantOrNull(state.nextTriggerTime) &&
      schedule !== null &&
      former !== null &&
      policyProblems(policy).length === 0;
    return isWhole ? { ...pick(state), schedule, former, policy } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}
