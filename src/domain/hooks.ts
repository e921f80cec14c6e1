import { type FieldProblem } from './errors.js';
import { type HttpExecutorSpec, httpSpecProblems, restoreHttpSpec } from './executors/http-spec.js';
import { type MqExecutorSpec, mqSpecProblems, restoreMqSpec } from './executors/mq-spec.js';
import { ID_FIX, isTaskId } from './task-id.js';

/** What is asked before a run and told after it. A hook never changes what a run that has begun comes to. */
export interface Hooks {
  readonly pre: PreHook | null;
  readonly post: PostHook | null;
}

export const NO_HOOKS: Hooks = { pre: null, post: null };

/** Asked by the worker before attempt 1: a run whose check fails does not begin. */
export interface PreHook {
  readonly check: HttpCheck | TaskSucceededCheck;
  /** `skip`: the first failed check ends the execution as skipped; `retry`: the last one of several does. */
  readonly onFail: (typeof ON_FAIL)[number];
  /** Checks after the first one, `retry` only. */
  readonly retryCount: number;
  readonly retryIntervalSec: number;
}

/** A call whose 2xx answer means go. */
export interface HttpCheck {
  readonly type: 'http';
  readonly target: HttpExecutorSpec;
  readonly timeoutSec: number;
}

/** Go if the last run of another task that has ended was a success, and ended at most so long ago. */
export interface TaskSucceededCheck {
  readonly type: 'task_succeeded';
  readonly taskId: string;
  readonly withinSec: number;
}

/** Told by a coordinator at least once after the execution has ended. */
export interface PostHook {
  /** `failure`: fail or timeout; `always`: every end, also as skipped. */
  readonly on: (typeof POST_ON)[number];
  readonly target: HttpExecutorSpec | MqExecutorSpec;
  /** Tries after the first one; the delay doubles from `retryIntervalSec` up to an hour. */
  readonly retryCount: number;
  readonly retryIntervalSec: number;
}

export const ON_FAIL = ['skip', 'retry'] as const;
export const POST_ON = ['success', 'failure', 'always'] as const;

export const DEFAULT_PRE = { onFail: 'skip', retryCount: 3, retryIntervalSec: 10, timeoutSec: 10 } as const;
/** Two and a half hours of tries. */
export const DEFAULT_POST = { retryCount: 10, retryIntervalSec: 10 } as const;

/** Outcomes of other tasks are remembered no longer. */
export const MAX_WITHIN_SEC = 366 * 86_400;

/** The call of a hook to an HTTP target: answered, not receipted, and not signed. */
export const httpTarget = (spec: Pick<HttpExecutorSpec, 'url' | 'method' | 'headers'>): HttpExecutorSpec => ({
  type: 'http',
  url: spec.url,
  method: spec.method,
  headers: spec.headers,
  ack: 'response',
  signature: null,
});

/** A message of a hook: confirmed by the broker, not receipted. */
export const mqTarget = (
  spec: Pick<MqExecutorSpec, 'broker' | 'exchange' | 'routingKey' | 'headers'>,
): MqExecutorSpec => ({
  type: 'mq',
  broker: spec.broker,
  exchange: spec.exchange,
  routingKey: spec.routingKey,
  headers: spec.headers,
  ack: 'delivered',
});

/** Every broken rule of the hooks of task `id`, by API field (`hooks.pre.url`, …); empty when they hold. */
export const hookProblems = ({ pre, post }: Hooks, id: string): FieldProblem[] => [
  ...(pre === null ? [] : preProblems(pre, id)),
  ...(post === null ? [] : postProblems(post)),
];

/** Hooks from stored JSON; null if they are none. */
export function restoreHooks(stored: unknown): Hooks | null {
  if (!isRecord(stored)) return null;
  const pre = stored.pre === null ? null : restorePre(stored.pre);
  const post = stored.post === null ? null : restorePostHook(stored.post);
  return pre === undefined || post === undefined ? null : { pre, post };
}

/** A post-hook from stored JSON; undefined if it is none. */
export function restorePostHook(stored: unknown): PostHook | undefined {
  if (!isRecord(stored) || !isRecord(stored.target)) return undefined;
  const on = POST_ON.find((word) => word === stored.on);
  const target = restoreTarget(stored.target);
  const { retryCount, retryIntervalSec } = stored;
  if (on === undefined || target === null || !isWhole(retryCount) || !isWhole(retryIntervalSec))
    return undefined;
  return { on, target, retryCount, retryIntervalSec };
}

function restoreTarget(stored: Readonly<Record<string, unknown>>): PostHook['target'] | null {
  if (stored.type === 'http') return restoreHttpSpec(stored);
  return stored.type === 'mq' ? restoreMqSpec(stored) : null;
}

function restorePre(stored: unknown): PreHook | undefined {
  if (!isRecord(stored)) return undefined;
  const check = restoreCheck(stored.check);
  const onFail = ON_FAIL.find((word) => word === stored.onFail);
  const { retryCount, retryIntervalSec } = stored;
  if (check === null || onFail === undefined || !isWhole(retryCount) || !isWhole(retryIntervalSec))
    return undefined;
  return { check, onFail, retryCount, retryIntervalSec };
}

function restoreCheck(stored: unknown): PreHook['check'] | null {
  if (!isRecord(stored)) return null;
  const { type, target, timeoutSec, taskId, withinSec } = stored;
  if (type === 'task_succeeded')
    return typeof taskId === 'string' && isWhole(withinSec) ? { type, taskId, withinSec } : null;
  if (type !== 'http' || !isRecord(target) || !isWhole(timeoutSec)) return null;
  const spec = restoreHttpSpec(target);
  return spec === null ? null : { type, target: spec, timeoutSec };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

function preProblems(hook: PreHook, id: string): FieldProblem[] {
  const retries = [
    ...rangeProblems('hooks.pre.retry_count', hook.retryCount, 0, 100),
    // Verify takes a run that says nothing for ten minutes for one that nobody takes.
    ...rangeProblems('hooks.pre.retry_interval', hook.retryIntervalSec, 1, 300),
  ];
  const { check } = hook;
  if (check.type === 'http')
    return [
      ...renamed(httpSpecProblems(check.target), 'hooks.pre'),
      ...rangeProblems('hooks.pre.timeout_sec', check.timeoutSec, 1, 60),
      ...retries,
    ];
  return [
    ...taskProblems(check.taskId, id),
    ...rangeProblems('hooks.pre.within_sec', check.withinSec, 1, MAX_WITHIN_SEC),
    ...retries,
  ];
}

function taskProblems(taskId: string, id: string): FieldProblem[] {
  const field = 'hooks.pre.task_id';
  if (!isTaskId(taskId)) return [{ field, problem: 'is not a task id', fix: ID_FIX }];
  if (taskId !== id) return [];
  return [{ field, problem: 'is the task itself', fix: 'name another task' }];
}

function postProblems({ target, retryCount, retryIntervalSec }: PostHook): FieldProblem[] {
  const problems = target.type === 'http' ? httpSpecProblems(target) : mqSpecProblems(target);
  return [
    ...renamed(problems, 'hooks.post.target'),
    ...rangeProblems('hooks.post.retry_count', retryCount, 0, 100),
    ...rangeProblems('hooks.post.retry_interval', retryIntervalSec, 1, 3600),
  ];
}

const renamed = (problems: readonly FieldProblem[], owner: string): FieldProblem[] =>
  problems.map(({ field, ...rest }) => ({ field: field.replace(/^executor/, owner), ...rest }));

function rangeProblems(field: string, value: number, min: number, max: number): FieldProblem[] {
  if (Number.isInteger(value) && value >= min && value <= max) return [];
  const fix = `give a whole number from ${min} to ${max}`;
  return [{ field, problem: `${value} is out of range`, fix }];
}
