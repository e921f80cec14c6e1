import { AxError, type FieldProblem, InvalidInput } from './errors.js';
import { type ExecutorSpec, executorProblems } from './executor-spec.js';
import { type Hooks, hookProblems } from './hooks.js';
import { type Json } from './json.js';
import { type Policy, policyProblems } from './policy.js';
import { scheduleProblems } from './schedule-problems.js';
import { FireTimes, isSameSchedule, type Schedule } from './schedule.js';
import { ID_FIX, isTaskId } from './task-id.js';
import { type FormerSchedule } from './timetable.js';

/** What an owner defines: when, what, and how it may fail. */
export interface TaskDefinition {
  readonly name: string;
  readonly group: string;
  readonly schedule: Schedule;
  readonly executor: ExecutorSpec;
  /** Handed to the target as it is. */
  readonly params: Json;
  readonly policy: Policy;
  readonly hooks: Hooks;
  readonly pool: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
  readonly isEnabled: boolean;
}

/** A stored definition with its cursor. Enabled or disabled, nothing else. Instants are epoch ms. */
export interface Task extends TaskDefinition {
  readonly id: string;
  /** What still decides slots before the latest edits (see Timetable); empty when all of them are decided. */
  readonly former: readonly FormerSchedule[];
  /** The oldest undecided slot; null while disabled and after the last slot. */
  readonly nextTriggerTime: number | null;
  /** Grows by one with every edit; the tick does not touch it. */
  readonly version: number;
  /** Why the task cannot be triggered as stored; null when it can. */
  readonly error: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A stored row that is not a task any more (edited by hand): shown, never triggered. */
export interface BrokenTask {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly isEnabled: boolean;
  readonly version: number;
  readonly error: string;
}

export const isBroken = (task: Task | BrokenTask): task is BrokenTask => !('schedule' in task);

export const MAX_PARAMS_BYTES = 65_536;
const MAX_LABELS = 32;
/** More changes of the schedule while one slot waits are refused. */
export const MAX_FORMER = 20;

export { ID_FIX, isTaskId };

const idProblems = (id: string): FieldProblem[] =>
  isTaskId(id) ? [] : [{ field: 'id', problem: 'is not a task id', fix: ID_FIX }];

/**
 * A new task from its definition; its first slot is the first one after `now`.
 * @throws InvalidInput with every problem found.
 */
export function createTask(id: string, definition: TaskDefinition, now: number): Task {
  const problems = [
    ...idProblems(id),
    ...definitionProblems(definition, id),
    ...scheduleProblems(definition.schedule, now),
  ];
  if (problems.length > 0) throw new InvalidInput(problems);
  const nextTriggerTime = definition.isEnabled ? new FireTimes().next(definition.schedule, now) : null;
  return {
    ...definition,
    id,
    former: [],
    nextTriggerTime,
    version: 1,
    error: null,
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * The task after an edit. Slots up to `now` are those of the old schedule, slots after it those of the new one: old slots that are due and
 * undecided stay to be decided, and the new schedule fires for no time before the edit. An unchanged schedule goes on as it was.
 * @throws InvalidInput with every problem found; AxError `conflict` when MAX_FORMER schedules were replaced while one slot waits.
 */
export function reviseTask(task: Task | BrokenTask, definition: TaskDefinition, now: number): Task {
  const old = isBroken(task) ? null : task;
  const keepsSchedule = old !== null && isSameSchedule(old.schedule, definition.schedule);
  const problems = definitionProblems(definition, task.id);
  // A schedule that has ended may stay while something else is edited.
  if (!keepsSchedule) problems.push(...scheduleProblems(definition.schedule, now));
  if (problems.length > 0) throw new InvalidInput(problems);
  return revised(task, definition, now);
}

/**
 * The task after an edit of what its schedule refers to: as with `reviseTask`, and whatever was taken once stays, also when no slot is left.
 * @throws AxError `conflict` as `reviseTask`.
 */
export const replanTask = (task: Task, schedule: Schedule, now: number): Task =>
  revised(task, { ...task, schedule }, now);

function revised(task: Task | BrokenTask, definition: TaskDefinition, now: number): Task {
  const old = isBroken(task) ? null : task;
  return {
    ...definition,
    id: task.id,
    ...revisedPlan(old, definition, old !== null && isSameSchedule(old.schedule, definition.schedule), now),
    version: task.version + 1,
    error: null,
    createdAt: old?.createdAt ?? now,
    updatedAt: now,
  };
}

function revisedPlan(
  old: Task | null,
  { schedule, isEnabled }: TaskDefinition,
  keepsSchedule: boolean,
  now: number,
): Pick<Task, 'nextTriggerTime' | 'former'> {
  if (!isEnabled) return { nextTriggerTime: null, former: [] };
  const cursor = old?.isEnabled === true ? old.nextTriggerTime : null;
  if (old === null || cursor === null || (!keepsSchedule && cursor > now))
    return { nextTriggerTime: new FireTimes().next(schedule, now), former: [] };
  const former = old.former.filter(({ until }) => until >= cursor);
  if (keepsSchedule) return { nextTriggerTime: cursor, former };
  if (former.length >= MAX_FORMER) {
    const waiting = `its slot of ${new Date(cursor).toISOString()} waits to be decided`;
    const fix = 'wait until it is, or disable the task first, which gives that slot up';
    throw new AxError('conflict', `the schedule was changed ${MAX_FORMER} times while ${waiting}; ${fix}`);
  }
  const until = Math.max(now, former.at(-1)?.until ?? now);
  return { nextTriggerTime: cursor, former: [...former, { schedule: old.schedule, until }] };
}

const definitionProblems = (definition: TaskDefinition, id: string): FieldProblem[] => [
  ...textProblems(definition),
  ...executorProblems(definition.executor),
  ...policyProblems(definition.policy),
  ...hookProblems(definition.hooks, id),
  ...paramsProblems(definition.params),
  ...labelProblems(definition.labels),
];

function textProblems(definition: TaskDefinition): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const check = (field: string, value: string, max: number) => {
    if (value.trim() === '' || value.length > max || /\p{Cc}/u.test(value)) {
      problems.push({
        field,
        problem: 'is empty, too long or has control characters',
        fix: `give 1 to ${max} printable characters`,
      });
    }
  };
  check('name', definition.name, 128);
  check('group', definition.group, 64);
  if (definition.owner !== null) check('owner', definition.owner, 64);
  if (!isTaskId(definition.pool))
    problems.push({ field: 'pool', problem: 'is not a pool name', fix: ID_FIX });
  return problems;
}

/** For a run with params of its own. @throws InvalidInput on field `params`. */
export function assertParams(params: Json): void {
  const problems = paramsProblems(params);
  if (problems.length > 0) throw new InvalidInput(problems);
}

function paramsProblems(params: Json): FieldProblem[] {
  const bytes = new TextEncoder().encode(JSON.stringify(params)).length;
  if (bytes <= MAX_PARAMS_BYTES) return [];
  const fix = `keep params within ${MAX_PARAMS_BYTES} bytes of JSON; pass a reference to larger data`;
  return [{ field: 'params', problem: `is ${bytes} bytes long`, fix }];
}

function labelProblems(labels: Readonly<Record<string, string>>): FieldProblem[] {
  const entries = Object.entries(labels);
  const problems = entries
    .filter(([key, value]) => !/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/.test(key) || value.length > 255)
    .map(([key]) => ({
      field: `labels.${key}`,
      problem: 'is not a label',
      fix: 'use a key of 1 to 63 letters, digits, ".", "_", "/" or "-" and a value of at most 255 characters',
    }));
  if (entries.length <= MAX_LABELS) return problems;
  const fix = `give at most ${MAX_LABELS}`;
  return [{ field: 'labels', problem: `has ${entries.length} labels`, fix }, ...problems];
}
