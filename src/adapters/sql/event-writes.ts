import { type TriggerEvent } from '../../domain/trigger.js';
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
