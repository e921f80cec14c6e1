import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/embedded/sqlite-store.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SqlExecutionRepo } from '../../src/adapters/sql/sql-execution-repo.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { type Task } from '../../src/domain/task.js';
import { AxProcess } from '../support/ax-process.js';
import { buildReport, buildTask } from '../support/builders.js';
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

async function runTask(db: SqlDb): Promise<void> {
  const request = { now: SLOT + 10, limit: 1, mayCommit: () => true };
  const { recorded } = await new SqlTriggerRepo(db).decideDue(request, (due) => ({
    ...fireAll(due, { firedAt: SLOT + 10 }),
    advances: [{ taskId: ONCE.id, nextSlot: null, holdUntil: null }],
  }));
  const executionId = recorded[0]?.event.id ?? '';
  const entry = { kind: 'finished', at: SLOT + 20, node: 'worker-1', detail: { attempt: 1 } } as const;
  const end = { status: 'success', startedAt: SLOT + 15, finishedAt: SLOT + 20 } as const;
  await new SqlExecutionRepo(db).apply([buildReport({ executionId, taskId: ONCE.id, ...end, entry })]);
}

async function verify(env: Record<string, string>, ...args: string[]) {
  const ax = AxProcess.spawn(['verify', ...args], env);
  const code = await ax.exit();
  return { code, output: ax.output() };
}

describe('ax verify', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'ax-verify-'));
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  const embedded = async (work: (db: SqlDb) => Promise<void>) => {
    const store = await openSqlite(dataDir, { clock: new SettableClock(SLOT), random: { next: () => 0 } });
    await work(store.db);
    await store.close({ clean: true });
  };

  it('ends with 1 and names what is missing, and with 0 when nothing is', async () => {
    const env = { AX_DATA_DIR: dataDir };
    await embedded(createTask);
    const missed = await verify(env);
    expect([missed.code, missed.output]).toEqual([
      1,
      expect.stringMatching(/missing +once +\d{4}-.*not decided yet/),
    ]);
    const asJson = await verify(env, '--json', '--from', String(SLOT), '--to', new Date(SLOT).toISOString());
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.output)).toMatchObject({
      from: SLOT,
      to: SLOT,
      violations: [{ rule: 'missing', task_id: 'once', slot: SLOT }],
    });
    await embedded(runTask);
    const clean = await verify(env);
    expect([clean.code, clean.output]).toEqual([
      0,
      expect.stringContaining('1 tasks, 1 slots, 1 events; no violation'),
    ]);
  }, 60_000);

  it('ends with 2 when it cannot tell, and says why', async () => {
    const nothing = await verify({ AX_DATA_DIR: dataDir });
    expect([nothing.code, nothing.output]).toEqual([2, expect.stringContaining(`no history in ${dataDir}`)]);
    await embedded(createTask);
    const mistaken = await verify({ AX_DATA_DIR: dataDir }, '--from', 'yesterday');
    expect([mistaken.code, mistaken.output]).toEqual([2, expect.stringContaining('from: is not an instant')]);
    expect((await verify({ AX_DATA_DIR: dataDir }, '--since', '0')).code).toBe(2);
    const ax = await AxProcess.serve({ AX_DATA_DIR: dataDir });
    const busy = await verify({ AX_DATA_DIR: dataDir });
    await ax.stop();
    expect([busy.code, busy.output]).toEqual([2, expect.stringContaining('GET /api/verify')]);
  }, 60_000);

  it('reads the database of a cluster and needs nothing else', async () => {
    const cluster = await Cluster.create();
    const { AX_MYSQL_URL = '' } = cluster.env;
    const db = connectMysql(AX_MYSQL_URL);
    try {
      await createTask(db);
      expect((await verify({ AX_MYSQL_URL })).code).toBe(1);
      await runTask(db);
      expect(await verify({ AX_MYSQL_URL })).toMatchObject({
        code: 0,
        output: expect.stringContaining('no violation') as string,
      });
    } finally {
      await db.close();
      await cluster.close();
    }
  }, 60_000);
});
