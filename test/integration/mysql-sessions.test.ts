import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE, buildEvent, buildTask } from '../support/builders.js';
import { openMysqlStore } from '../support/mysql-store.js';
import { recordEvents } from '../support/runs.js';
import { auditOf } from '../support/store.js';

describe('MySQL sessions', () => {
  let store: Awaited<ReturnType<typeof openMysqlStore>>;
  beforeAll(async () => {
    store = await openMysqlStore();
  });
  afterAll(() => store.close());

  it('writes UTC with milliseconds whatever the time zone of the server and of other sessions', async () => {
    const task = buildTask({ nextTriggerTime: BASE + 59_999, createdAt: BASE - 1 });
    await store.tasks.insert(task, auditOf(task.id));
    const [other] = await store.database.query(
      `SELECT @@session.time_zone AS zone, CAST(next_trigger_time AS CHAR) AS cursor_text,
       CAST(created_at AS CHAR) AS created_text FROM task_meta WHERE id = ?`,
      [task.id],
    );
    expect(other).toEqual({
      zone: '+08:00',
      cursor_text: '2026-01-05 00:00:59.999',
      created_text: '2026-01-04 23:59:59.999',
    });
  });

  it('finds a slot by equality to the millisecond', async () => {
    const events = [59_999, 60_000, 60_500].map((ms) => buildEvent({ slot: BASE + ms }));
    await recordEvents(store, events);
    const rows = await store.database.query(
      "SELECT id FROM trigger_event WHERE slot = '2026-01-05 00:00:59.999'",
    );
    expect(rows).toEqual([{ id: events[0]?.id }]);
  });

  it('sets up every connection: zone, isolation, strictness, short waits for locks', async () => {
    const isolation = await store.db.read((sql) =>
      sql.rows<{ Variable_name: string; Value: string }>(
        `SHOW SESSION VARIABLES WHERE Variable_name IN
         ('time_zone', 'tx_isolation', 'transaction_isolation', 'innodb_lock_wait_timeout', 'sql_mode', 'character_set_client')`,
      ),
    );
    const value = (name: string) => isolation.find((row) => row.Variable_name === name)?.Value;
    expect(value('time_zone')).toBe('+00:00');
    expect(value('transaction_isolation') ?? value('tx_isolation')).toBe('READ-COMMITTED');
    expect(value('sql_mode')).toContain('STRICT_ALL_TABLES');
    expect(value('sql_mode')).not.toContain('NO_BACKSLASH_ESCAPES');
    expect(value('innodb_lock_wait_timeout')).toBe('5');
    expect(value('character_set_client')).toBe('utf8mb4');
  });
});
