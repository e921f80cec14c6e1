import { type CalendarUse } from '../../domain/calendar-use.js';
import {
  cronKey,
  type CronRule,
  DEFAULT_CRON,
  DST_GAPS,
  DST_OVERLAPS,
  parseCron,
} from '../../domain/cron.js';
import { CRON_DIALECTS } from '../../domain/cron/cron-fields.js';
import { AxError, InvalidInput, messageOf } from '../../domain/errors.js';
import { executorProblems, type ExecutorSpec, restoreExecutor } from '../../domain/executor-spec.js';
import { isTextRecord } from '../../domain/executors/text-record.js';
import { hookProblems, type Hooks, NO_HOOKS, restoreHooks } from '../../domain/hooks.js';
import { type Json } from '../../domain/json.js';
import {
  type MisfirePolicy,
  OVERLAP_POLICIES,
  type Policy,
  policyProblems,
  type RetryStrategy,
} from '../../domain/policy.js';
import { jitterProblems } from '../../domain/schedule-problems.js';
import { intervalAnchor, MAX_INTERVAL_SEC, type Schedule } from '../../domain/schedule.js';
import { type BrokenTask, type Task } from '../../domain/task.js';
import { type FormerSchedule } from '../../domain/timetable.js';
import { type Statements } from './sql-db.js';
import { isVersionKey, type KnownCalendars, referencesIn, StoredCalendars } from './stored-calendars.js';
import { restoreFormer, restoreUse } from './stored-schedule.js';
import { type TaskColumn, type TaskRow } from './task-row.js';

const RETRY_STRATEGIES: readonly RetryStrategy[] = ['fixed', 'exponential'];
const MISFIRE_POLICIES: readonly MisfirePolicy[] = ['fire_once', 'skip', 'catch_up'];
const KNOWN_CRONS = 10_000;

/** Makes tasks of rows. A row that is not a task becomes a BrokenTask that says why; nothing but a store's error is thrown. */
export class TaskMapper {
  /** Expressions with zones that were found good; checking one costs more than the rest of its row. */
  private readonly knownCrons = new Set<string>();

  constructor(private readonly calendars = new StoredCalendars()) {}

  /** With the versions of calendars that they refer to: one statement more if there are any that were not read before. */
  async fromRows(sql: Statements, rows: readonly TaskRow[]): Promise<(Task | BrokenTask)[]> {
    const references = rows.flatMap(({ calendar: name, calendar_version: version, former_json }) => {
      const own = { name, version };
      return [...(isVersionKey(own) ? [own] : []), ...referencesIn(former_json)];
    });
    const calendars = await this.calendars.load(sql, references);
    return rows.map((row) => this.fromRow(row, calendars));
  }

  fromRow(row: TaskRow, calendars: KnownCalendars): Task | BrokenTask {
    try {
      return this.restore(row, calendars);
    } catch (error) {
      return {
        id: String(row.id),
        name: String(row.name),
        group: String(row.group_name),
        isEnabled: row.enabled === 1,
        version: Number.isSafeInteger(row.version) ? (row.version as number) : 0,
        error: messageOf(error),
      };
    }
  }

  private restore(row: TaskRow, calendars: KnownCalendars): Task {
    const createdAt = whole(row, 'created_at');
    return {
      id: text(row, 'id'),
      former: former(row, calendars),
      name: text(row, 'name'),
      group: text(row, 'group_name'),
      schedule: this.schedule(row, createdAt, calendars),
      executor: executor(row),
      params: json(row, 'params_json') as Json,
      policy: policy(row),
      hooks: hooks(row),
      pool: text(row, 'pool'),
      labels: labels(row),
      owner: row.owner === null ? null : text(row, 'owner'),
      isEnabled: flag(row, 'enabled'),
      nextTriggerTime: wholeOrNull(row, 'next_trigger_time'),
      version: whole(row, 'version'),
      error: row.error === null ? null : text(row, 'error'),
      createdAt,
      updatedAt: whole(row, 'updated_at'),
    };
  }

  private schedule(row: TaskRow, createdAt: number, calendars: KnownCalendars): Schedule {
    const type = oneOf(row, 'schedule_type', ['cron', 'interval', 'once'] as const);
    if (type === 'once') return { type, runAt: whole(row, 'run_at') };
    const startAt = wholeOrNull(row, 'start_at');
    const endAt = wholeOrNull(row, 'end_at');
    const jitterSec = wholeOrNull(row, 'jitter_sec') ?? 0;
    if (jitterProblems(jitterSec).length > 0) throw corrupt('jitter_sec', jitterSec);
    if (type === 'cron') {
      const rule = { ...cronRule(row), calendar: calendarUse(row, calendars) };
      this.assertCron(rule);
      return { type, ...rule, startAt, endAt, jitterSec };
    }
    const everySec = whole(row, 'interval_sec');
    if (everySec < 1 || everySec > MAX_INTERVAL_SEC) throw corrupt('interval_sec', everySec);
    return { type, everySec, anchorAt: intervalAnchor(startAt, createdAt), startAt, endAt, jitterSec };
  }

  private assertCron(rule: CronRule): void {
    const key = cronKey(rule);
    if (this.knownCrons.has(key)) return;
    parseCron(rule);
    if (this.knownCrons.size >= KNOWN_CRONS) this.knownCrons.clear();
    this.knownCrons.add(key);
  }
}

/** Tasks that an older ax has stored have the defaults. */
const cronRule = (row: TaskRow): Omit<CronRule, 'calendar'> => ({
  expr: text(row, 'cron_expr'),
  dialect: oneOf(row, 'cron_dialect', CRON_DIALECTS, DEFAULT_CRON.dialect),
  timezone: text(row, 'timezone'),
  dstGap: oneOf(row, 'dst_gap', DST_GAPS, DEFAULT_CRON.dstGap),
  dstOverlap: oneOf(row, 'dst_overlap', DST_OVERLAPS, DEFAULT_CRON.dstOverlap),
});

function policy(row: TaskRow): Policy {
  const restored: Policy = {
    timeoutSec: whole(row, 'timeout_sec'),
    retryCount: whole(row, 'retry_count'),
    retryIntervalSec: whole(row, 'retry_interval_sec'),
    retryStrategy: oneOf(row, 'retry_strategy', RETRY_STRATEGIES),
    retryMaxIntervalSec: whole(row, 'retry_max_interval_sec'),
    hasRetryJitter: flag(row, 'retry_jitter'),
    slowAfterSec: wholeOrNull(row, 'slow_after_sec'),
    maxConcurrent: whole(row, 'max_concurrent'),
    overlapPolicy: oneOf(row, 'overlap_policy', OVERLAP_POLICIES),
    misfirePolicy: oneOf(row, 'misfire_policy', MISFIRE_POLICIES),
    misfireLimit: whole(row, 'misfire_limit'),
    misfireMaxAgeSec: whole(row, 'misfire_max_age_sec'),
    windowSec: whole(row, 'window_sec'),
    isIdempotent: flag(row, 'idempotent'),
  };
  const problems = policyProblems(restored);
  if (problems.length > 0) throw new InvalidInput(problems);
  return restored;
}

function executor(row: TaskRow): ExecutorSpec {
  const spec = restoreExecutor(record(row, 'executor_json'));
  if (spec === null) throw corrupt('executor_json', row.executor_json);
  const problems = executorProblems(spec);
  if (problems.length > 0) throw new InvalidInput(problems);
  return spec;
}

function hooks(row: TaskRow): Hooks {
  if (row.hooks_json === null) return NO_HOOKS;
  const restored = restoreHooks(json(row, 'hooks_json'));
  if (restored === null) throw corrupt('hooks_json', row.hooks_json);
  const problems = hookProblems(restored, text(row, 'id'));
  if (problems.length > 0) throw new InvalidInput(problems);
  return restored;
}

function calendarUse(row: TaskRow, calendars: KnownCalendars): CalendarUse | null {
  if (row.calendar === null) return null;
  const name = text(row, 'calendar');
  const version = whole(row, 'calendar_version');
  const reference = { name, version, rule: row.calendar_rule, shift: row.calendar_shift };
  const use = restoreUse(reference, calendars);
  if (use !== null) return use;
  throw new AxError('corrupt_row', `version ${version} of calendar ${name} cannot be used as stored`);
}

function former(row: TaskRow, calendars: KnownCalendars): readonly FormerSchedule[] {
  if (row.former_json === null) return [];
  const restored = restoreFormer(json(row, 'former_json'), calendars);
  if (restored === null) throw corrupt('former_json', row.former_json);
  return restored;
}

function labels(row: TaskRow): Readonly<Record<string, string>> {
  const found = record(row, 'labels_json');
  if (!isTextRecord(found)) throw corrupt('labels_json', row.labels_json);
  return found;
}

const corrupt = (column: TaskColumn, value: unknown): AxError =>
  new AxError('corrupt_row', `${column} holds ${String(JSON.stringify(value)).slice(0, 100)}`);

function text(row: TaskRow, column: TaskColumn): string {
  const value = row[column];
  if (typeof value !== 'string') throw corrupt(column, value);
  return value;
}

function whole(row: TaskRow, column: TaskColumn): number {
  const value = row[column];
  if (!Number.isSafeInteger(value)) throw corrupt(column, value);
  return value as number;
}

const wholeOrNull = (row: TaskRow, column: TaskColumn): number | null =>
  row[column] === null ? null : whole(row, column);

function flag(row: TaskRow, column: TaskColumn): boolean {
  const value = row[column];
  if (value !== 0 && value !== 1) throw corrupt(column, value);
  return value === 1;
}

function oneOf<T extends string>(row: TaskRow, column: TaskColumn, words: readonly T[], ifNull?: T): T {
  const value = row[column] ?? ifNull;
  if (!words.includes(value as T)) throw corrupt(column, value);
  return value as T;
}

function json(row: TaskRow, column: TaskColumn): unknown {
  try {
    return JSON.parse(text(row, column));
  } catch {
    throw corrupt(column, row[column]);
  }
}

function record(row: TaskRow, column: TaskColumn): Readonly<Record<string, unknown>> {
  const value = json(row, column);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw corrupt(column, row[column]);
  return value as Record<string, unknown>;
}
