import { type z } from 'zod';
import { type LiveWorkers, needOf } from '../../application/pools/live-workers.js';
import { type CalendarDays } from '../../domain/calendar-days.js';
import { CalendarUse, DEFAULT_RULE } from '../../domain/calendar-use.js';
import { DEFAULT_CRON } from '../../domain/cron.js';
import { type FieldProblem, InvalidInput } from '../../domain/errors.js';
import { type Policy } from '../../domain/policy.js';
import { FireTimes, intervalAnchor, type Schedule } from '../../domain/schedule.js';
import { type BrokenTask, isBroken, type Task, type TaskDefinition } from '../../domain/task.js';
import { TaskSlots } from '../../domain/timetable.js';
import { executorJson, executorOf } from './executor-fields.js';
import { check } from './field-problems.js';
import { hooksJson, hooksOf } from './hook-fields.js';
import { instantText } from './instant.js';
import {
  NEW_TASK,
  REPLACED_TASK,
  type ScheduleFields,
  scheduleFieldProblems,
  type TaskFields,
} from './task-fields.js';
import { poolStatusJson } from './worker-routes.js';

/** What a task is to be; the domain has yet to judge it. `days` are those of the calendar that it names. */
export interface NamedDraft {
  readonly calendar: string | null;
  readonly draft: (createdAt: number, days?: CalendarDays | null) => TaskDefinition;
}

/**
 * A new task from its JSON, also from a file; `id` is null if ax is to choose it.
 * @throws InvalidInput with every unknown, missing, mistyped or misplaced field.
 */
export function taskDraft(json: unknown): NamedDraft & { readonly id: string | null } {
  const fields = read(NEW_TASK, json, []);
  return { id: fields.id ?? null, ...draftOf(fields) };
}

/**
 * The new definition of task `id` from its JSON, which may be the task as read: what ax sets is ignored, `version` is the version that
 * the writer expects (null: any).
 * @throws InvalidInput as `taskDraft`, also if the JSON names another id.
 */
export function taskReplacement(json: unknown, id: string): NamedDraft & { readonly version: number | null } {
  const fields = read(REPLACED_TASK, json, otherIdProblems(json, id));
  return { version: fields.version ?? null, ...draftOf(fields) };
}

function read<Fields extends TaskFields>(
  schema: z.ZodType<Fields>,
  json: unknown,
  others: readonly FieldProblem[],
): Fields {
  const { value, problems } = check(schema, json);
  const all = [...problems, ...others, ...scheduleFieldProblems(json)];
  if (value === undefined || all.length > 0) throw new InvalidInput(all);
  return value;
}

function otherIdProblems(json: unknown, id: string): FieldProblem[] {
  const given = (json as { readonly id?: unknown } | null | undefined)?.id;
  if (given === id || typeof given !== 'string') return [];
  return [{ field: 'id', problem: 'is not the id in the path', fix: 'leave it out; an id never changes' }];
}

const draftOf = (fields: TaskFields): NamedDraft => ({
  calendar: fields.calendar ?? null,
  draft: (createdAt, days = null) => ({
    name: fields.name,
    group: fields.group,
    schedule: scheduleOf(fields, createdAt, days),
    executor: executorOf(fields.executor),
    params: fields.params,
    policy: policyOf(fields),
    hooks: hooksOf(fields.hooks),
    pool: fields.pool,
    labels: fields.labels,
    owner: fields.owner ?? null,
    isEnabled: fields.enabled,
  }),
});

/** `scheduleFieldProblems` has seen to the required fields; what stands in for them here is refused by the domain, too. */
export function scheduleOf(fields: ScheduleFields, createdAt: number, days: CalendarDays | null): Schedule {
  const startAt = fields.start_at ?? null;
  const endAt = fields.end_at ?? null;
  const jitterSec = fields.jitter_sec ?? 0;
  switch (fields.schedule_type) {
    case 'cron':
      return {
        type: 'cron',
        expr: fields.cron_expr ?? '',
        dialect: fields.cron_dialect ?? DEFAULT_CRON.dialect,
        timezone: fields.timezone ?? 'UTC',
        dstGap: fields.dst_gap ?? DEFAULT_CRON.dstGap,
        dstOverlap: fields.dst_overlap ?? DEFAULT_CRON.dstOverlap,
        calendar: calendarOf(fields, days),
        startAt,
        endAt,
        jitterSec,
      };
    case 'interval': {
      const anchorAt = intervalAnchor(startAt, createdAt);
      return { type: 'interval', everySec: fields.interval ?? 0, anchorAt, startAt, endAt, jitterSec };
    }
    case 'once':
      return { type: 'once', runAt: fields.run_at ?? 0 };
  }
}

function calendarOf(fields: ScheduleFields, days: CalendarDays | null): CalendarUse | null {
  if ((fields.calendar ?? null) === null) return null;
  if (days === null) throw InvalidInput.of('calendar', 'is not known here', 'leave it out');
  return new CalendarUse(days, fields.calendar_rule ?? DEFAULT_RULE, fields.calendar_shift ?? 'none');
}

const policyOf = (fields: TaskFields): Policy => ({
  timeoutSec: fields.timeout_sec,
  retryCount: fields.retry_count,
  retryIntervalSec: fields.retry_interval,
  retryStrategy: fields.retry_strategy,
  retryMaxIntervalSec: fields.retry_max_interval,
  hasRetryJitter: fields.retry_jitter,
  slowAfterSec: fields.slow_after_sec ?? null,
  maxConcurrent: fields.max_concurrent,
  overlapPolicy: fields.overlap_policy,
  misfirePolicy: fields.misfire_policy,
  misfireLimit: fields.misfire_limit,
  misfireMaxAgeSec: fields.misfire_max_age_sec,
  windowSec: fields.window_sec,
  isIdempotent: fields.idempotent,
});

/**
 * The JSON of a task: every field, null where the schedule has none, or where nobody knows which workers live. A row that is no task any
 * more shows what is known of it. `times` may serve many tasks.
 */
export function taskJson(
  task: Task | BrokenTask,
  live: LiveWorkers | null,
  times = new FireTimes(),
): Readonly<Record<string, unknown>> {
  const { id, name, group, isEnabled: enabled, version, error } = task;
  if (isBroken(task)) return { id, name, group, enabled, version, error };
  return {
    id,
    name,
    group,
    ...scheduleJson(task.schedule),
    executor: executorJson(task.executor),
    params: task.params,
    ...policyJson(task.policy),
    hooks: hooksJson(task.hooks),
    pool: task.pool,
    labels: task.labels,
    owner: task.owner,
    enabled,
    next_trigger_time: textOrNull(firesNext(task, times)),
    version,
    created_at: instantText(task.createdAt),
    updated_at: instantText(task.updatedAt),
    error,
    pool_status: poolStatusJson(live?.statusOf(needOf(task)) ?? null),
  };
}

/** The first undecided slot that fires. */
function firesNext(task: Task, times: FireTimes): number | null {
  const cursor = task.nextTriggerTime;
  return cursor === null ? null : new TaskSlots(task, times).nextFiring(cursor - 1);
}

const scheduleJson = (schedule: Schedule) => ({
  schedule_type: schedule.type,
  cron_expr: schedule.type === 'cron' ? schedule.expr : null,
  cron_dialect: schedule.type === 'cron' ? schedule.dialect : null,
  timezone: schedule.type === 'cron' ? schedule.timezone : null,
  dst_gap: schedule.type === 'cron' ? schedule.dstGap : null,
  dst_overlap: schedule.type === 'cron' ? schedule.dstOverlap : null,
  ...calendarJson(schedule.type === 'cron' ? schedule.calendar : null),
  interval: schedule.type === 'interval' ? schedule.everySec : null,
  run_at: schedule.type === 'once' ? instantText(schedule.runAt) : null,
  start_at: schedule.type === 'once' ? null : textOrNull(schedule.startAt),
  end_at: schedule.type === 'once' ? null : textOrNull(schedule.endAt),
  jitter_sec: schedule.type === 'once' ? null : schedule.jitterSec,
});

const calendarJson = (use: CalendarUse | null) => ({
  calendar: use?.days.calendar.name ?? null,
  calendar_rule: use?.rule ?? null,
  calendar_shift: use?.shift ?? null,
});

const policyJson = (policy: Policy) => ({
  timeout_sec: policy.timeoutSec,
  retry_count: policy.retryCount,
  retry_interval: policy.retryIntervalSec,
  retry_strategy: policy.retryStrategy,
  retry_max_interval: policy.retryMaxIntervalSec,
  retry_jitter: policy.hasRetryJitter,
  slow_after_sec: policy.slowAfterSec,
  max_concurrent: policy.maxConcurrent,
  overlap_policy: policy.overlapPolicy,
  misfire_policy: policy.misfirePolicy,
  misfire_limit: policy.misfireLimit,
  misfire_max_age_sec: policy.misfireMaxAgeSec,
  window_sec: policy.windowSec,
  idempotent: policy.isIdempotent,
});

const textOrNull = (instant: number | null): string | null =>
  instant === null ? null : instantText(instant);
