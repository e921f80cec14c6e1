import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/embedded/sqlite-store.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { type Task } from '../../src/domain/task.js';
import { AxProcess } from '../support/ax-process.js';
import { buildTask } from '../support/builders.js';
import { Cluster } from '../support/cluster.js';
import { fireAll } from '../support/deciding.js';
import { connectMysql } from '../support/mysql-store.js';
import { SettableClock } from '../support/store.js';

const MINUTE = 60_000;
/** When the only slot of the task was. */
const SLOT = Math.floor(Date.now() / 1000) * 1000 - 10 * MINUTE;
const ONCE: Task = buildTask({
  id: 'once',
  schedule: { type: 'once', runAt: SLOT },
  nextTriggerTime: SLOT,
  createdAt: SLOT - MINUTE,
  updatedAt: SLOT - MINUTE,
});

async function createTask(db: SqlDb): Promise<void> {
  const audit = { at: ONCE.createdAt, actor: 'test', action: 'task.create', subject: ONCE.id };
  await new SqlTaskRepo(db).insert(ONCE, { ...audit, before: null, after: ONCE });
}

async function fireTask(db: SqlDb): Promise<void> {
  const request = { now: SLOT + 10, limit: 1, mayCommit: () => true };
  await new SqlTriggerRepo(db).decideDue(request, (due) => ({
    ...fireAll(due, { firedAt: SLOT + 10 }),
    advances: [{ taskId: ONCE.id, nextSlot: null, holdUntil: null }],
  }));
}

async function why(env: Record<string, string>, ...args: string[]) {
  const ax = AxProcess.spawn(['why', ...args], env);
  const code = await ax.exit();
  return { code, output: ax.output() };
}

describe('ax why', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ax-why-'));
    const store = await openSqlite(dataDir, { clock: new SettableClock(SLOT), random: { next: () => 0 } });
    await createTask(store.db);
    await store.close({ clean: true });
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  it('tells of the last slot in words, or of an instant as JSON', async () => {
    const env = { AX_DATA_DIR: dataDir };
    const last = await why(env, 'once');
    expect([last.code, last.output]).toEqual([0, expect.stringContaining('code: not_decided')]);
    expect(last.output).toContain('next slot: none is known');
    const early = await why(env, 'once', '--json', '--at', new Date(SLOT - MINUTE - 1).toISOString());
    expect(JSON.parse(early.output)).toMatchObject({
      task_id: 'once',
      at: SLOT - MINUTE - 1,
      code: 'not_created',
      next: { slot: SLOT },
    });
  }, 60_000);

  it('names the instant that it cannot read, a task that never was, and the route of a running ax', async () => {
    const env = { AX_DATA_DIR: dataDir };
    const mistaken = await why(env, 'once', '--at', 'yesterday');
    expect([mistaken.code, mistaken.output]).toEqual([1, expect.stringContaining('at: is not an instant')]);
    const unheard = await why(env, 'twice');
    expect([unheard.code, unheard.output]).toEqual([1, expect.stringContaining('there is no task twice')]);
    const ax = await AxProcess.serve(env);
    const busy = await why(env, 'once');
    await ax.stop();
    expect([busy.code, busy.output]).toEqual([1, expect.stringContaining('GET /api/tasks/once/why?at=')]);
  }, 60_000);

  it('asks the queue and the workers of a cluster, and tells from the store alone while Redis is away', async () => {
    const cluster = await Cluster.create();
    const { AX_MYSQL_URL = '' } = cluster.env;
    const db = connectMysql(AX_MYSQL_URL);
    try {
      await createTask(db);
      await fireTask(db);
      const asked = await why({ ...cluster.env }, 'once');
      expect([asked.code, asked.output]).toEqual([0, expect.stringContaining('code: not_published')]);
      for (const redis of [{}, { AX_REDIS_URL: 'redis://127.0.0.1:1' }]) {
        const away = await why({ AX_MYSQL_URL, ...redis }, 'once');
        expect([away.code, away.output]).toEqual([0, expect.stringContaining('code: triggered')]);
        expect(away.output).toContain('not told: what the queue knows of the run');
      }
    } finally {
      await db.close();
      await cluster.close();
    }
  }, 60_000);
});
