import { type LedgerKind, type Status } from '../../domain/execution.js';
import { type Reason } from '../../domain/reason.js';
import { type RecordedEvent, type RecordedStep } from '../../domain/recorded-run.js';
import { isTaskId } from '../../domain/task.js';
import { type KnownState, type TaskChange } from '../../domain/task-history.js';
import { type TriggerKind } from '../../domain/trigger.js';
import { type HistoryRepo } from '../../ports/history-repo.js';
import { auditedState, stateOf } from './audited-state.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { type KnownCalendars, referencesIn, StoredCalendars } from './stored-calendars.js';
import { recordOf } from './stored-text.js';
import { TaskMapper } from './task-mapper.js';
import { TASK_COLUMNS, type TaskRow } from './task-row.js';

interface ChangeRow {
  readonly id: number;
  readonly at: number;
  readonly action: string;
  readonly before_json: string;
  readonly after_json: string;
}

interface EventRow {
  readonly id: string;
  readonly task_id: string;
  readonly kind: TriggerKind;
  readonly slot: number;
  readonly window_start: number;
  readonly window_end: number;
  readonly fired_at: number;
  readonly is_misfire: number;
  readonly range_end: number | null;
  readonly status: Status | null;
  readonly reason: Reason | null;
  readonly attempt: number | null;
  readonly started_at: number | null;
}

interface StepRow {
  readonly execution_id: string;
  readonly kind: LedgerKind;
  readonly generation: number;
  readonly node: string;
  readonly at: number;
  readonly detail_json: string;
}

const CHANGES = `subject = ? AND action IN ('task.create', 'task.update', 'task.toggle', 'task.delete')`;
/** Definitions may be large, so a few at a time. */
const CHANGES_PER_READ = 50;
const EVENTS = `SELECT e.id, e.task_id, e.kind, e.slot, e.window_start, e.window_end, e.fired_at, e.is_misfire, e.range_end,
  x.status, x.reason, x.attempt, x.started_at FROM trigger_event e LEFT JOIN execution_log x ON x.id = e.id`;
/** The kinds that tell whether a run began, or why it has not yet. */
const STEP_KINDS = `'waiting', 'precheck_failed', 'claimed', 'reclaimed', 'attempt_started', 'attempt_failed', 'handed_back', 'republished', 'finished'`;

/** Reads by index alone, also where the unique key on slots is missing. */
export class SqlHistoryRepo implements HistoryRepo {
  private readonly calendars = new StoredCalendars();
  private readonly mapper = new TaskMapper(this.calendars);

  constructor(private readonly db: SqlDb) {}

  async nextTaskId(after: string): Promise<string | null> {
    return this.db.read(async (sql) => {
      const ids = [
        await smallest(sql, 'task_meta', 'id', after),
        await smallest(sql, 'trigger_event', 'task_id', after),
        await nextSubject(sql, after),
      ].filter((id) => id !== null);
      return ids.length === 0 ? null : ids.reduce((a, b) => (a < b ? a : b));
    });
  }

  async taskHistory(taskId: string, from: number, limit: number) {
    return this.db.read(async (sql) => {
      for (;;) {
        const newest = await newestChange(sql, taskId);
        const rows = newest === null ? [] : await readChanges(sql, taskId, from, limit, newest);
        const changes = await this.changesOf(sql, rows);
        const current = await this.current(sql, taskId);
        // A change in between would make what is now contradict the log.
        if ((await newestChange(sql, taskId)) === newest) return { current, changes };
      }
    });
  }

  async eventBefore(taskId: string, slot: number): Promise<RecordedEvent | null> {
    return this.db.read(async (sql) => {
      const where = `e.task_id = ? AND e.kind = 'schedule' AND e.slot < ? ORDER BY e.slot DESC LIMIT 1`;
      const rows = await sql.rows<EventRow>(`${EVENTS} WHERE ${where}`, [taskId, this.at(slot)]);
      return (await recordedEvents(sql, rows))[0] ?? null;
    });
  }

  async events(request: Parameters<HistoryRepo['events']>[0]): Promise<RecordedEvent[]> {
    const { taskId, kind, from, to, after, limit } = request;
    return this.db.read(async (sql) => {
      const later = after === null ? '' : 'AND (e.slot > ? OR e.id > ?)';
      const start = this.at(after?.slot ?? from);
      const rows = await sql.rows<EventRow>(
        `${EVENTS} WHERE e.task_id = ? AND e.kind = ? AND e.slot >= ? AND e.slot <= ? ${later} ORDER BY e.slot, e.id LIMIT ?`,
        [taskId, kind, start, this.at(to), ...(after === null ? [] : [start, after.id]), limit],
      );
      return recordedEvents(sql, rows);
    });
  }

  private async current(sql: Statements, taskId: string): Promise<KnownState> {
    const [row] = await sql.rows<TaskRow>(`SELECT ${TASK_COLUMNS.join(', ')} FROM task_meta WHERE id = ?`, [
      taskId,
    ]);
    const [task = null] = row === undefined ? [] : await this.mapper.fromRows(sql, [row]);
    return stateOf(task);
  }

  private async changesOf(sql: Statements, rows: readonly ChangeRow[]): Promise<TaskChange[]> {
    const references = rows.flatMap((row) => [row.before_json, row.after_json].flatMap(referencesIn));
    const calendars = await this.calendars.load(sql, references);
    return rows.map((row) => changeOf(row, calendars));
  }

  private at(instant: number) {
    return this.db.dialect.instant(instant) as string | number;
  }
}

async function smallest(
  sql: Statements,
  table: string,
  column: string,
  after: string,
): Promise<string | null> {
  const [row] = await sql.rows<{ id: string | null }>(
    `SELECT MIN(${column}) AS id FROM ${table} WHERE ${column} > ?`,
    [after],
  );
  return row?.id ?? null;
}

/** The log has other subjects too; some of them are no word that an id could be compared with. */
async function nextSubject(sql: Statements, after: string): Promise<string | null> {
  let subject = await smallest(sql, 'audit_log', 'subject', after);
  while (subject !== null && !(isTaskId(subject) && (await newestChange(sql, subject)) !== null)) {
    subject = await smallest(sql, 'audit_log', 'subject', subject);
  }
  return subject;
}

async function newestChange(sql: Statements, taskId: string): Promise<number | null> {
  const [row] = await sql.rows<{ id: number }>(
    `SELECT id FROM audit_log WHERE ${CHANGES} ORDER BY id DESC LIMIT 1`,
    [taskId],
  );
  return row?.id ?? null;
}

/** Backwards from the newest one, until one is older than the range. */
async function readChanges(sql: Statements, taskId: string, from: number, limit: number, newest: number) {
  const changes: ChangeRow[] = [];
  for (let until = newest + 1; changes.length < limit;) {
    const rows = await sql.rows<ChangeRow>(
      `SELECT id, at, action, before_json, after_json FROM audit_log WHERE ${CHANGES} AND id < ? ORDER BY id DESC LIMIT ?`,
      [taskId, until, Math.min(CHANGES_PER_READ, limit - changes.length)],
    );
    for (const row of rows) {
      changes.push(row);
      if (row.at < from) return changes.toReversed();
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    until = last.id;
  }
  return changes.toReversed();
}

function changeOf({ at, action, before_json, after_json }: ChangeRow, calendars: KnownCalendars): TaskChange {
  const [before, after] = [auditedState(before_json, calendars), auditedState(after_json, calendars)];
  const isGone = after === 'absent';
  return { at, before, after: isGone && action !== 'task.delete' ? 'unreadable' : after };
}

async function recordedEvents(sql: Statements, rows: readonly EventRow[]): Promise<RecordedEvent[]> {
  const steps = await readSteps(
    sql,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    taskId: row.task_id,
    kind: row.kind,
    slot: row.slot,
    windowStart: row.window_start,
    windowEnd: row.window_end,
    firedAt: row.fired_at,
    isMisfire: row.is_misfire === 1,
    rangeEnd: row.range_end,
    status: row.status ?? 'pending',
    reason: row.reason,
    attempt: row.attempt ?? 0,
    startedAt: row.started_at,
    steps: steps.get(row.id) ?? [],
  }));
}

async function readSteps(sql: Statements, ids: readonly string[]): Promise<Map<string, RecordedStep[]>> {
  const steps = new Map<string, RecordedStep[]>();
  if (ids.length === 0) return steps;
  const rows = await sql.rows<StepRow>(
    `SELECT execution_id, kind, generation, node, at, detail_json FROM execution_event
     WHERE execution_id IN (${ids.map(() => '?').join(', ')}) AND kind IN (${STEP_KINDS}) ORDER BY execution_id, at, generation, seq`,
    ids,
  );
  for (const { execution_id, kind, generation, node, at, detail_json } of rows) {
    const { attempt } = recordOf(detail_json);
    const step = { kind, generation, node, at, attempt: typeof attempt === 'number' ? attempt : null };
    steps.set(execution_id, [...(steps.get(execution_id) ?? []), step]);
  }
  return steps;
}
