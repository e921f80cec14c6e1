import { ADOPTED_PROGRESS } from './report-writes.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { idBound } from './time-ordered-id.js';

/**
 * An id tells when its event was made by its maker's clock, not when it was committed: events turn up behind the mark for a while.
 * So every event is looked at twice: as soon as asked, and once more when no earlier one can turn up.
 */
const STRAGGLERS_MS = 300_000;
const CHUNK = 5000;

type Pass = 'adopted_until' | 'adopted_again_until';

/** How far, by the time in event ids (epoch ms), events were given states. */
export class AdoptionMarks {
  constructor(private readonly sql: Statements) {}

  async read(pass: Pass): Promise<number> {
    const [row] = await this.sql.rows<{ value: string }>('SELECT value FROM ax_state WHERE name = ?', [pass]);
    return Number(row?.value ?? 0);
  }

  async move(pass: Pass, until: number): Promise<void> {
    const { dialect } = this.sql;
    const update = `${dialect.orUpdate('name')} value = ${dialect.incoming('value')}`;
    await this.sql.insert('ax_state', ['name', 'value'], [[pass, String(until)]], update);
  }

  /** No event with a smaller id lacks a state. */
  async pendingFrom(): Promise<string> {
    return idBound(await this.read('adopted_again_until'));
  }
}

/** See the port. Concurrent calls do no harm: a state that exists is kept, and a mark that goes back costs a second look. */
export async function adoptPending(db: SqlDb, recordedBefore: number): Promise<number> {
  const first = await pass(db, 'adopted_until', recordedBefore);
  return first + (await pass(db, 'adopted_again_until', recordedBefore - STRAGGLERS_MS));
}

async function pass(db: SqlDb, name: Pass, until: number): Promise<number> {
  const from = await db.read((sql) => new AdoptionMarks(sql).read(name));
  if (until <= from) return 0;
  const end = idBound(until);
  let adopted = 0;
  for (let start: string | null = idBound(from); start !== null;) {
    const next: string | null = await chunkEnd(db, start, end);
    adopted += await adoptRange(db, start, next ?? end);
    start = next;
  }
  await db.transaction((sql) => new AdoptionMarks(sql).move(name, until));
  return adopted;
}

/** Where the next chunk starts; null when the rest is one chunk. */
async function chunkEnd(db: SqlDb, start: string, end: string): Promise<string | null> {
  const [row] = await db.read((sql) =>
    sql.rows<{ id: string }>(
      'SELECT id FROM trigger_event WHERE id >= ? AND id < ? ORDER BY id LIMIT 1 OFFSET ?',
      [start, end, CHUNK],
    ),
  );
  return row?.id ?? null;
}

async function adoptRange(db: SqlDb, start: string, end: string): Promise<number> {
  return db.transaction((sql) =>
    sql.run(
      `INSERT INTO execution_log (id, task_id, status, generation, attempt, evidence_json, progress, updated_at)
       SELECT e.id, e.task_id, 'pending', 0, 0, '{}', ${ADOPTED_PROGRESS}, ?
       FROM trigger_event e LEFT JOIN execution_log x ON x.id = e.id
       WHERE e.id >= ? AND e.id < ? AND x.id IS NULL ${sql.dialect.keepExisting('execution_log', 'id')}`,
      [sql.dialect.instant(db.clock.now()), start, end],
    ),
  );
}
