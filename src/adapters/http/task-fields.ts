import { z } from 'zod';
import { CALENDAR_RULES, CALENDAR_SHIFTS } from '../../domain/calendar-use.js';
import { CRON_DIALECTS } from '../../domain/cron/cron-fields.js';
import { DST_GAPS, DST_OVERLAPS } from '../../domain/cron.js';
import { type FieldProblem } from '../../domain/errors.js';
import { type Json } from '../../domain/json.js';
import {
  DEFAULT_POLICY as DEFAULT,
  type MisfirePolicy,
  OVERLAP_POLICIES,
  type RetryStrategy,
} from '../../domain/policy.js';
import { type Schedule } from '../../domain/schedule.js';
import { ID_FIX, isTaskId } from '../../domain/task.js';
import { executor } from './executor-fields.js';
import { readWith, Refusal, strict } from './field-problems.js';
import { hooks } from './hook-fields.js';
import { readInstant } from './instant.js';

const MAX_JSON_DEPTH = 64;

/** Any JSON value; numbers are finite and the nesting is bounded, so that it can be written again. */
export const json = readWith((value): Json | Refusal =>
  isJson(value, MAX_JSON_DEPTH)
    ? value
    : new Refusal('is not JSON to keep', `use finite numbers and nest at most ${MAX_JSON_DEPTH} levels`),
);

function isJson(value: unknown, depth: number): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth === 0) return false;
  return Object.values(value).every((member) => isJson(member, depth - 1));
}

const instant = readWith(readInstant);

export const taskId = z.string().refine(isTaskId, { error: 'is not a task id', params: { fix: ID_FIX } });

/** When a task fires. */
export const scheduleFields = {
  schedule_type: z.enum(['cron', 'interval', 'once'] satisfies Schedule['type'][]),
  cron_expr: z.string().nullish(),
  cron_dialect: z.enum(CRON_DIALECTS).nullish(),
  timezone: z.string().nullish(),
  dst_gap: z.enum(DST_GAPS).nullish(),
  dst_overlap: z.enum(DST_OVERLAPS).nullish(),
  calendar: z.string().nullish(),
  calendar_rule: z.enum(CALENDAR_RULES).nullish(),
  calendar_shift: z.enum(CALENDAR_SHIFTS).nullish(),
  interval: z.number().nullish(),
  run_at: instant.nullish(),
  start_at: instant.nullish(),
  end_at: instant.nullish(),
  jitter_sec: z.number().nullish(),
};

const writable = {
  name: z.string(),
  group: z.string().default('default'),
  ...scheduleFields,
  executor,
  params: json.default(null),
  timeout_sec: z.number().default(DEFAULT.timeoutSec),
  retry_count: z.number().default(DEFAULT.retryCount),
  retry_interval: z.number().default(DEFAULT.retryIntervalSec),
  retry_strategy: z.enum(['fixed', 'exponential'] satisfies RetryStrategy[]).default(DEFAULT.retryStrategy),
  retry_max_interval: z.number().default(DEFAULT.retryMaxIntervalSec),
  retry_jitter: z.boolean().default(DEFAULT.hasRetryJitter),
  slow_after_sec: z.number().nullish(),
  max_concurrent: z.number().default(DEFAULT.maxConcurrent),
  overlap_policy: z.enum(OVERLAP_POLICIES).default(DEFAULT.overlapPolicy),
  misfire_policy: z
    .enum(['fire_once', 'skip', 'catch_up'] satisfies MisfirePolicy[])
    .default(DEFAULT.misfirePolicy),
  misfire_limit: z.number().default(DEFAULT.misfireLimit),
  misfire_max_age_sec: z.number().default(DEFAULT.misfireMaxAgeSec),
  window_sec: z.number().default(DEFAULT.windowSec),
  idempotent: z.boolean().default(DEFAULT.isIdempotent),
  hooks,
  pool: z.string().default('default'),
  labels: z.record(z.string(), z.string()).default({}),
  owner: z.string().nullish(),
  enabled: z.boolean().default(true),
};

const setByAx = z.never().optional();

/** A new task. Ranges and the schedule's own rules are the domain's. */
export const NEW_TASK = strict({
  id: taskId.optional(),
  ...writable,
  next_trigger_time: setByAx,
  version: setByAx,
  created_at: setByAx,
  updated_at: setByAx,
  error: setByAx,
  description: setByAx,
  description_zh: setByAx,
  warnings: setByAx,
  pool_status: setByAx,
});

/** A whole task as it was read, edited; what ax sets is ignored, but for `id` and `version`. */
export const REPLACED_TASK = strict({
  id: z.string().optional(),
  ...writable,
  next_trigger_time: z.unknown().optional(),
  version: z.int().optional(),
  created_at: z.unknown().optional(),
  updated_at: z.unknown().optional(),
  error: z.unknown().optional(),
  description: z.unknown().optional(),
  description_zh: z.unknown().optional(),
  warnings: z.unknown().optional(),
  pool_status: z.unknown().optional(),
});

export type TaskFields = z.output<typeof REPLACED_TASK> | z.output<typeof NEW_TASK>;

export type ScheduleFields = z.output<z.ZodObject<typeof scheduleFields>>;

type ScheduleField = Exclude<keyof typeof scheduleFields, 'schedule_type'>;

/** The fields of each type of schedule; the first is required. */
const OF_TYPE: Readonly<Record<Schedule['type'], readonly [ScheduleField, ...ScheduleField[]]>> = {
  cron: [
    'cron_expr',
    'cron_dialect',
    'timezone',
    'dst_gap',
    'dst_overlap',
    'calendar',
    'calendar_rule',
    'calendar_shift',
    'start_at',
    'end_at',
    'jitter_sec',
  ],
  interval: ['interval', 'start_at', 'end_at', 'jitter_sec'],
  once: ['run_at'],
};
const CALENDAR_FIELDS = ['calendar_rule', 'calendar_shift'] as const;
const SCHEDULE_FIELDS = [...new Set(Object.values(OF_TYPE).flat())];

/** Fields that the schedule's type lacks or has nothing to do with, whatever else is wrong with them. */
export function scheduleFieldProblems(input: unknown): FieldProblem[] {
  if (typeof input !== 'object' || input === null) return [];
  const fields = new Map<string, unknown>(Object.entries(input));
  const type = fields.get('schedule_type');
  if (type !== 'cron' && type !== 'interval' && type !== 'once') return [];
  const isGiven = (field: string) => (fields.get(field) ?? null) !== null;
  const [required] = OF_TYPE[type];
  const missing = isGiven(required)
    ? []
    : [{ field: required, problem: 'is missing', fix: `give it, as schedule_type is "${type}"` }];
  const foreign = SCHEDULE_FIELDS.filter((field) => isGiven(field) && !OF_TYPE[type].includes(field));
  const alone = isGiven('calendar') || type !== 'cron' ? [] : CALENDAR_FIELDS.filter(isGiven);
  return [
    ...missing,
    ...alone.map((field) => ({
      field,
      problem: 'is given without a calendar',
      fix: 'name the calendar in `calendar`, or leave it out',
    })),
    ...foreign.map((field) => ({
      field,
      problem: `does not belong to schedule_type "${type}"`,
      fix: 'leave it out, or change schedule_type',
    })),
  ];
}
