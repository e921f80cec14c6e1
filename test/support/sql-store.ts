import { AxError } from '../../src/domain/errors.js';
import { SqlAuditLog } from '../../src/adapters/sql/sql-audit-log.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SqlCalendarRepo } from '../../src/adapters/sql/sql-calendar-repo.js';
import { SqlDurationRepo } from '../../src/adapters/sql/sql-duration-repo.js';
import { SqlExecutionRepo } from '../../src/adapters/sql/sql-execution-repo.js';
import { SqlHistoryRepo } from '../../src/adapters/sql/sql-history-repo.js';
import { SqlHookRepo } from '../../src/adapters/sql/sql-hook-repo.js';
import { SqlLoadRepo } from '../../src/adapters/sql/sql-load-repo.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTokenRepo } from '../../src/adapters/sql/sql-token-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { type SettableClock, type Store } from './store.js';

const TABLES = [
  'task_meta',
  'trigger_event',
  'execution_log',
  'execution_event',
  'audit_log',
  'api_token',
  'run_request',
  'ax_state',
  'hook_delivery',
  'calendar',
  'calendar_version',
];

/** A store of ax's own repositories on one database. */
export function sqlStore(
  db: SqlDb,
  clock: SettableClock,
  outside: { loseCommit: () => void; close: () => Promise<void> },
): Store {
  let recorded: string[] | null = null;
  let failing: RegExp | null = null;
  // A listener that throws makes its statement fail.
  db.knex.on('query', ({ sql }: { sql: string }) => {
    recorded?.push(sql);
    if (failing?.test(sql) !== true) return;
    failing = null;
    throw new AxError('unavailable', 'failed on purpose');
  });
  return {
    tasks: new SqlTaskRepo(db),
    triggers: new SqlTriggerRepo(db),
    executions: new SqlExecutionRepo(db),
    tokens: new SqlTokenRepo(db),
    audit: new SqlAuditLog(db),
    durations: new SqlDurationRepo(db),
    loads: new SqlLoadRepo(db),
    history: new SqlHistoryRepo(db),
    hooks: new SqlHookRepo(db),
    calendars: new SqlCalendarRepo(db),
    clock,
    spoil: async (id, column, value) => {
      await db
        .knex('task_meta')
        .where({ id })
        .update({ [column]: value });
    },
    statementsOf: async (work) => {
      const statements: string[] = (recorded = []);
      await work();
      recorded = null;
      return statements;
    },
    failNext: (pattern) => {
      failing = pattern;
    },
    loseCommit: outside.loseCommit,
    clear: async () => {
      failing = null;
      for (const table of TABLES) await db.knex(table).delete();
    },
    close: async () => {
      await db.close();
      await outside.close();
    },
  };
}
