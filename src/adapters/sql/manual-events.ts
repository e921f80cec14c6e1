import { createHash } from 'node:crypto';
import { AxError } from '../../domain/errors.js';
import { type SlotKey, type TriggerEvent } from '../../domain/trigger.js';
import { type AuditEntry } from '../../ports/audit.js';
import { EVENT_COLUMNS, type EventRow, eventOf } from './event-row.js';
import { insertEvents } from './event-writes.js';
import { appendAudit } from './sql-audit-log.js';
import { type Statements } from './sql-db.js';
import { isWord } from './word.js';

const MAX_SLOT_TRIES = 20;

/**
 * TriggerRepo.recordManual within a transaction. Takes no lock on the task: the tick passes over locked rows, and a manual run must not
 * delay a scheduled one.
 */
export async function recordManualEvent(
  sql: Statements,
  event: TriggerEvent,
  runKey: string | null,
  audit: AuditEntry,
): Promise<{ readonly event: TriggerEvent; readonly isNew: boolean }> {
  if (!(await hasTask(sql, event.taskId))) {
    throw new AxError('not_found', `there is no task ${event.taskId}`);
  }
  const first = runKey === null ? null : await claimRunKey(sql, event, runKey);
  if (first !== null) return { event: first, isNew: false };
  const recorded = await insertInFreeSlot(sql, event);
  await appendAudit(sql, audit);
  return { event: recorded, isNew: true };
}

async function hasTask(sql: Statements, id: string): Promise<boolean> {
  return isWord(id) && (await sql.rows('SELECT id FROM task_meta WHERE id = ?', [id])).length > 0;
}

/** Null when the key is new for the task and now stands for this event; else the event that it stands for. */
async function claimRunKey(
  sql: Statements,
  event: TriggerEvent,
  runKey: string,
): Promise<TriggerEvent | null> {
  const key = [event.taskId, createHash('sha256').update(runKey).digest('hex')] as const;
  try {
    await sql.insert('run_request', ['task_id', 'run_key', 'event_id'], [[...key, event.id]]);
    return null;
  } catch (error) {
    if (!sql.isDuplicate(error)) throw error;
  }
  const [row] = await sql.rows<EventRow>(
    `SELECT ${EVENT_COLUMNS.map((column) => `e.${column}`).join(', ')} FROM run_request r
     JOIN trigger_event e ON e.id = r.event_id WHERE r.task_id = ? AND r.run_key = ?`,
    key,
  );
  if (row === undefined)
    throw new AxError('unavailable', `the first run with this key of task ${event.taskId} is not readable`);
  return eventOf(row);
}

async function insertInFreeSlot(sql: Statements, event: TriggerEvent): Promise<TriggerEvent> {
  let candidate = event;
  for (let tries = 0; tries < MAX_SLOT_TRIES; tries++) {
    const refused = await insertEvents(sql, [candidate]);
    if (refused.size === 0) return candidate;
    const shift = (await firstFreeSlot(sql, candidate)) - event.slot;
    candidate = {
      ...event,
      slot: event.slot + shift,
      windowStart: event.windowStart + shift,
      windowEnd: event.windowEnd + shift,
    };
  }
  throw new AxError(
    'unavailable',
    `no free slot near ${event.slot} for a manual run of task ${event.taskId}`,
  );
}

/** The first millisecond from the slot on that has no event of this task and kind. */
async function firstFreeSlot(sql: Statements, { taskId, kind, slot }: SlotKey): Promise<number> {
  const window = 1000;
  for (let from = slot; ; from += window) {
    const taken = await sql.rows<{ slot: number }>(
      'SELECT slot FROM trigger_event WHERE task_id = ? AND kind = ? AND slot >= ? AND slot < ? ORDER BY slot',
      [taskId, kind, sql.dialect.instant(from), sql.dialect.instant(from + window)],
    );
    const gap = taken.findIndex((row, i) => row.slot !== from + i);
    if (gap !== -1) return from + gap;
    if (taken.length < window) return from + taken.length;
  }
}
