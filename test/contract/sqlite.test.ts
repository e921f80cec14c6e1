import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/embedded/sqlite-store.js';
import { sqlStore } from '../support/sql-store.js';
import { SettableClock, type Store } from '../support/store.js';
import { auditLogSuite } from './audit-log.suite.js';
import { calendarRepoSuite } from './calendar-repo.suite.js';
import { durationRepoSuite } from './duration-repo.suite.js';
import { executionListSuite } from './execution-list.suite.js';
import { executionRepoSuite } from './execution-repo.suite.js';
import { historyRepoSuite } from './history-repo.suite.js';
import { hookRepoSuite } from './hook-repo.suite.js';
import { loadRepoSuite } from './load-repo.suite.js';
import { manualRunSuite } from './manual-run.suite.js';
import { taskDemandSuite } from './task-demand.suite.js';
import { taskListSuite } from './task-list.suite.js';
import { taskRepoSuite } from './task-repo.suite.js';
import { tokenRepoSuite } from './token-repo.suite.js';
import { triggerRepoSuite } from './trigger-repo.suite.js';
import { triggerTasksSuite } from './trigger-tasks.suite.js';

async function open(): Promise<Store> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ax-sqlite-'));
  const clock = new SettableClock();
  const sqlite = await openSqlite(dataDir, { clock, random: { next: Math.random } });
  const { db } = sqlite;
  return sqlStore(db, clock, {
    loseCommit: () => {
      let isArmed = true;
      db.knex.on('query', ({ sql }: { sql: string }) => {
        if (!isArmed || !sql.startsWith('COMMIT')) return;
        isArmed = false;
        throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' });
      });
    },
    close: async () => {
      await sqlite.close({ clean: false });
      await rm(dataDir, { recursive: true });
    },
  });
}

taskRepoSuite('SQLite', open);
taskListSuite('SQLite', open);
taskDemandSuite('SQLite', open);
triggerRepoSuite('SQLite', open);
triggerTasksSuite('SQLite', open);
manualRunSuite('SQLite', open);
executionRepoSuite('SQLite', open);
executionListSuite('SQLite', open);
tokenRepoSuite('SQLite', open);
auditLogSuite('SQLite', open);
historyRepoSuite('SQLite', open);
durationRepoSuite('SQLite', open);
loadRepoSuite('SQLite', open);
calendarRepoSuite('SQLite', open);
hookRepoSuite('SQLite', open);
