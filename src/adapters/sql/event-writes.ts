import { type SlotKey, type TriggerEvent } from '../../domain/trigger.js';
import { EVENT_COLUMNS, eventRow } from './event-row.js';
import { type Statements } from './sql-db.js';

/**
 * Records events in one statement; the unique key on (task, kind, slot) refuses those whose slot has one. Returns the ids of the
 * refused. Only when there are any it costs two statements more: the same insert past the known slots, and a look at what it stored.
 */
export async function insertEvents(
  sql: Statements,
  events: readonly TriggerEvent[],
): Promise<ReadonlySet<string>> {
  const rows = events.map((event) => eventRow(event, sql.dialect));
  try {
    await sql.insert('trigger_event', EVENT_COLUMNS, rows);
    return new Set();
  } catch (error) {
    if (!sql.isDuplicate(error)) throw error;
  }
  await sql.insert('trigger_event', EVENT_COLUMNS, rows, sql.dialect.keepExisting('trigger_event', 'id'));
  const ids = events.map(({ id }) => id);
  const query = sql.knex('trigger_event').select('id').whereIn('id', ids);
  const missing = new Set(ids);
  for (const { id } of await sql.select<{ id: string }>(query)) missing.delete(id);
  return missing;
}

/** The first millisecond from the slot on that has no event of this task and kind. */
export async function firstFreeSlot(sql: Statements, { taskId, kind, slot }: SlotKey): Promise<number> {
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
