import { type BrokenTask, type Task } from '../../domain/task.js';
import { type TriggerEvent } from '../../domain/trigger.js';
import { type AuditEntry } from '../../ports/audit.js';
import { type DecidedBatch, type TriggerOutcome, type TriggerRepo } from '../../ports/trigger-repo.js';
import { insertEvents } from './event-writes.js';
import { recordManualEvent } from './manual-events.js';
import { writeReports } from './report-writes.js';
import { Rollback, type SqlDb, type Statements } from './sql-db.js';
import { cut, LENGTHS } from './stored-text.js';
import { TaskMapper } from './task-mapper.js';
import { TASK_COLUMNS, type TaskRow } from './task-row.js';

/** `countDue` reads at most this many index entries; a longer backlog is not told apart. */
const MAX_COUNTED = 100_000;
const NOTHING = { recorded: [], duplicates: [] } as const;

/**
 * The tick costs five statements however many tasks are due: begin, select, insert, update, commit; two more with skipped slots, one
 * with errors, two with duplicates, one with calendars that were not read before.
 */
export class SqlTriggerRepo implements TriggerRepo {
  private readonly mapper = new TaskMapper();

  constructor(private readonly db: SqlDb) {}

  async decideDue(
    request: { readonly now: number; readonly limit: number; readonly mayCommit: () => boolean },
    decide: (due: readonly (Task | BrokenTask)[]) => DecidedBatch,
  ): Promise<TriggerOutcome> {
    return this.db.transaction(async (sql) => {
      const due = await this.readDue(sql, request);
      if (due.length === 0) return { ...NOTHING, dueCount: 0 };
      const batch = decide(due);
      const refused = await this.record(sql, batch);
      await advance(sql, batch.advances);
      await markErrors(sql, batch.errors);
      if (!request.mayCommit()) throw new Rollback<TriggerOutcome>({ ...NOTHING, dueCount: due.length });
      return {
        recorded: batch.fired.filter(({ event }) => !refused.has(event.id)),
        duplicates: eventsOf(batch).filter(({ id }) => refused.has(id)),
        dueCount: due.length,
      };
    });
  }

  private async readDue(
    sql: Statements,
    { now, limit }: { readonly now: number; readonly limit: number },
  ): Promise<(Task | BrokenTask)[]> {
    const at = sql.dialect.instant(now);
    const rows = await sql.rows<TaskRow>(
      `SELECT ${TASK_COLUMNS.join(', ')} FROM task_meta ${dueIndex(sql)}
       WHERE enabled = 1 AND next_trigger_time <= ? AND (hold_until IS NULL OR hold_until <= ?)
       ORDER BY next_trigger_time LIMIT ? ${sql.dialect.forUpdateSkipLocked}`,
      [at, at, limit],
    );
    return this.mapper.fromRows(sql, rows);
  }

  /** Ids of the refused events. */
  private async record(sql: Statements, batch: DecidedBatch): Promise<ReadonlySet<string>> {
    const events = eventsOf(batch);
    if (events.length === 0) return new Set();
    const refused = await insertEvents(sql, events);
    const skips = batch.skipped.filter(({ event }) => !refused.has(event.id)).map(({ report }) => report);
    if (skips.length > 0) await writeReports(sql, skips, this.db.clock.now());
    return refused;
  }

  /** The rows before the first one that is not held back are few, and the index leads to both. */
  async nextDueAt(): Promise<number | null> {
    return this.db.read(async (sql) => {
      const [first] = await sql.rows<{ due_at: number }>(
        `SELECT next_trigger_time AS due_at FROM task_meta ${dueIndex(sql)}
         WHERE enabled = 1 AND next_trigger_time IS NOT NULL AND (hold_until IS NULL OR hold_until <= next_trigger_time)
         ORDER BY next_trigger_time LIMIT 1`,
      );
      const isEarlier = first === undefined ? 'next_trigger_time IS NOT NULL' : 'next_trigger_time < ?';
      const [held] = await sql.rows<{ due_at: number | null }>(
        `SELECT MIN(hold_until) AS due_at FROM task_meta ${dueIndex(sql)} WHERE enabled = 1 AND ${isEarlier} AND hold_until > next_trigger_time`,
        first === undefined ? [] : [sql.dialect.instant(first.due_at)],
      );
      const candidates = [first?.due_at, held?.due_at].filter((at) => typeof at === 'number');
      return candidates.length === 0 ? null : Math.min(...candidates);
    });
  }

  async countDue(now: number): Promise<number> {
    const [row] = await this.db.read((sql) =>
      sql.rows<{ due: number }>(
        `SELECT COUNT(*) AS due FROM
         (SELECT 1 AS one FROM task_meta ${dueIndex(sql)} WHERE enabled = 1 AND next_trigger_time <= ? LIMIT ${MAX_COUNTED}) AS counted`,
        [sql.dialect.instant(now)],
      ),
    );
    return row?.due ?? 0;
  }

  async recordManual(
    event: TriggerEvent,
    runKey: string | null,
    audit: AuditEntry,
  ): Promise<{ readonly event: TriggerEvent; readonly isNew: boolean }> {
    return this.db.transaction((sql) => recordManualEvent(sql, event, runKey, audit));
  }
}

/** A planner that errs here would read, and lock, every task. */
const dueIndex = ({ dialect }: Statements): string => dialect.useIndex('task_meta_due');

const eventsOf = ({ fired, skipped }: DecidedBatch): TriggerEvent[] => [
  ...fired.map(({ event }) => event),
  ...skipped.map(({ event }) => event),
];

/**
 * Measured for 1000 rows on MariaDB 10.11, rows locked: JSON 12 ms, FIELD/ELT 13, UNION ALL 14, CASE 14 to 18; a multi-row
 * upsert takes 9, but would make a task of a row that is gone.
 */
async function advance(sql: Statements, advances: DecidedBatch['advances']): Promise<void> {
  if (advances.length === 0) return;
  const { dialect } = sql;
  const rows = advances.map(({ taskId, nextSlot, holdUntil }) => [
    taskId,
    dialect.instant(nextSlot),
    dialect.instant(holdUntil),
    null,
  ]);
  await sql.run(dialect.updateFromJson('task_meta', 'id', ['next_trigger_time', 'hold_until', 'error']), [
    JSON.stringify(rows),
  ]);
}

async function markErrors(sql: Statements, errors: DecidedBatch['errors']): Promise<void> {
  if (errors.length === 0) return;
  const { dialect } = sql;
  const rows = errors.map(({ taskId, error, holdUntil }) => [
    taskId,
    cut(error, LENGTHS.error),
    dialect.instant(holdUntil),
  ]);
  await sql.run(dialect.updateFromJson('task_meta', 'id', ['error', 'hold_until']), [JSON.stringify(rows)]);
}
