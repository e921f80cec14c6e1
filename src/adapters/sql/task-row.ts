import { type Hooks } from '../../domain/hooks.js';
import { type Policy } from '../../domain/policy.js';
import { type Schedule } from '../../domain/schedule.js';
import { type Task } from '../../domain/task.js';
import { type Dialect, type SqlValue } from './dialect.js';

export const TASK_COLUMNS = [
  'id',
  'name',
  'group_name',
  'schedule_type',
  'cron_expr',
  'cron_dialect',
  'timezone',
  'dst_gap',
  'dst_overlap',
  'calendar',
  'calendar_version',
  'calendar_rule',
  'calendar_shift',
  'interval_sec',
  'run_at',
  'start_at',
  'end_at',
  'jitter_sec',
  'former_json',
  'executor_json',
  'params_json',
  'timeout_sec',
  'retry_count',
  'retry_interval_sec',
  'retry_strategy',
  'retry_max_interval_sec',
  'retry_jitter',
  'slow_after_sec',
  'max_concurrent',
  'overlap_policy',
  'misfire_policy',
  'misfire_limit',
  'misfire_max_age_sec',
  'window_sec',
  'idempotent',
  'hooks_json',
  'pool',
  'labels_json',
  'owner',
  'enabled',
  'next_trigger_time',
  'error',
  'version',
  'created_at',
  'updated_at',
] as const;

export type TaskColumn = (typeof TASK_COLUMNS)[number];

/** A row as it was read; nothing is taken for granted, since people edit tables by hand. */
export type TaskRow = Readonly<Record<TaskColumn, unknown>>;

const hasHooks = ({ pre, post }: Hooks): boolean => pre !== null || post !== null;

type Columns<C extends TaskColumn> = Record<C, SqlValue>;

/** All columns of a task; its type of executor has one more, by which an index counts. */
export function taskRow(task: Task, dialect: Dialect): Columns<TaskColumn> & { executor_type: string } {
  return {
    id: task.id,
    name: task.name,
    group_name: task.group,
    ...scheduleColumns(task.schedule, dialect),
    former_json: task.former.length > 0 ? JSON.stringify(task.former) : null,
    executor_type: task.executor.type,
    executor_json: JSON.stringify(task.executor),
    params_json: JSON.stringify(task.params),
    ...policyColumns(task.policy),
    hooks_json: hasHooks(task.hooks) ? JSON.stringify(task.hooks) : null,
    pool: task.pool,
    labels_json: JSON.stringify(task.labels),
    owner: task.owner,
    enabled: Number(task.isEnabled),
    next_trigger_time: dialect.instant(task.nextTriggerTime),
    error: task.error,
    version: task.version,
    created_at: dialect.instant(task.createdAt),
    updated_at: dialect.instant(task.updatedAt),
  };
}

type ScheduleColumn =
  | 'schedule_type'
  | 'cron_expr'
  | 'cron_dialect'
  | 'timezone'
  | 'dst_gap'
  | 'dst_overlap'
  | 'calendar'
  | 'calendar_version'
  | 'calendar_rule'
  | 'calendar_shift'
  | 'interval_sec'
  | 'run_at'
  | 'start_at'
  | 'end_at'
  | 'jitter_sec';

/** The anchor of an interval is not stored: `start_at` or `created_at` gives it. */
function scheduleColumns(schedule: Schedule, dialect: Dialect): Columns<ScheduleColumn> {
  const isOnce = schedule.type === 'once';
  const cron = schedule.type === 'cron' ? schedule : null;
  const use = cron?.calendar?.toJSON() ?? null;
  return {
    schedule_type: schedule.type,
    cron_expr: cron?.expr ?? null,
    cron_dialect: cron?.dialect ?? null,
    timezone: cron?.timezone ?? null,
    dst_gap: cron?.dstGap ?? null,
    dst_overlap: cron?.dstOverlap ?? null,
    calendar: use?.name ?? null,
    calendar_version: use?.version ?? null,
    calendar_rule: use?.rule ?? null,
    calendar_shift: use?.shift ?? null,
    interval_sec: schedule.type === 'interval' ? schedule.everySec : null,
    run_at: isOnce ? dialect.instant(schedule.runAt) : null,
    start_at: isOnce ? null : dialect.instant(schedule.startAt),
    end_at: isOnce ? null : dialect.instant(schedule.endAt),
    jitter_sec: isOnce || schedule.jitterSec === 0 ? null : schedule.jitterSec,
  };
}

const policyColumns = (policy: Policy) => ({
  timeout_sec: policy.timeoutSec,
  retry_count: policy.retryCount,
  retry_interval_sec: policy.retryIntervalSec,
  retry_strategy: policy.retryStrategy,
  retry_max_interval_sec: policy.retryMaxIntervalSec,
  retry_jitter: Number(policy.hasRetryJitter),
  slow_after_sec: policy.slowAfterSec,
  max_concurrent: policy.maxConcurrent,
  overlap_policy: policy.overlapPolicy,
  misfire_policy: policy.misfirePolicy,
  misfire_limit: policy.misfireLimit,
  misfire_max_age_sec: policy.misfireMaxAgeSec,
  window_sec: policy.windowSec,
  idempotent: Number(policy.isIdempotent),
});
