import { cronProblems, DEFAULT_CRON } from '../../domain/cron.js';
import { DEFAULT_POLICY, type Policy, policyProblems } from '../../domain/policy.js';
import { MAX_INTERVAL_SEC, type Schedule } from '../../domain/schedule.js';
import { isBroken, type BrokenTask, type Task } from '../../domain/task.js';
import { type KnownState, type TaskState } from '../../domain/task-history.js';

/** The part of a stored task that its history needs. */
export function stateOf(task: Task | BrokenTask | null): KnownState {
  if (task === null) return 'absent';
  return isBroken(task) ? 'unreadable' : pick(task);
}

const pick = ({
  schedule,
  policy,
  isEnabled,
  nextTriggerTime,
  version,
  createdAt,
  updatedAt,
}: TaskState) => ({
  schedule,
  policy,
  isEnabled,
  nextTriggerTime,
  version,
  createdAt,
  updatedAt,
});

/** The same of a task as the audit log holds it, the domain's JSON of it, maybe of an older ax; nothing is taken for granted. */
export function auditedState(json: string): KnownState {
  try {
    const value: unknown = JSON.parse(json);
    if (value === null) return 'absent';
    const state = value as TaskState;
    const policy: Policy = { ...DEFAULT_POLICY, ...state.policy };
    const schedule: Schedule =
      state.schedule.type === 'cron' ? { ...DEFAULT_CRON, ...state.schedule } : state.schedule;
    const isWhole =
      typeof state.isEnabled === 'boolean' &&
      [state.version, state.createdAt, state.updatedAt].every(Number.isSafeInteger) &&
      isInstantOrNull(state.nextTriggerTime) &&
      isSchedule(schedule) &&
      policyProblems(policy).length === 0;
    return isWhole ? { ...pick(state), schedule, policy } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

const isInstantOrNull = (value: unknown): boolean => value === null || Number.isSafeInteger(value);

function isSchedule(schedule: Schedule): boolean {
  switch (schedule.type) {
    case 'once':
      return Number.isSafeInteger(schedule.runAt);
    case 'interval': {
      const { everySec, anchorAt } = schedule;
      const isStep = Number.isInteger(everySec) && everySec >= 1 && everySec <= MAX_INTERVAL_SEC;
      return isStep && Number.isSafeInteger(anchorAt) && isBounded(schedule);
    }
    case 'cron':
      return cronProblems(schedule).length === 0 && isBounded(schedule);
    default:
      return false;
  }
}

const isBounded = ({ startAt, endAt }: { readonly startAt: unknown; readonly endAt: unknown }): boolean =>
  isInstantOrNull(startAt) && isInstantOrNull(endAt);
