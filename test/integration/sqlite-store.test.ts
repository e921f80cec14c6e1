import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteStore } from '../../src/adapters/embedded/sqlite-store.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { buildTask } from '../support/builders.js';
import { auditOf, SettableClock } from '../support/store.js';

const HOLD_LOCK = `
const Database = require('better-sqlite3');
const lock = new Database(process.argv[1]);
lock.exec('BEGIN EXCLUSIVE');
process.stdout.write('held');
setInterval(() => undefined, 1000);
`;

describe('SQLite store', () => {
  let home: string;
  let dataDir: string;
  const opened: SqliteStore[] = [];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'ax-sqlite-'));
    dataDir = join(home, 'deep', 'data');
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close({ clean: false });
    await rm(home, { recursive: true });
  });

  const open = async (dir = dataDir) => {
    const store = await openSqlite(dir, { clock: new SettableClock(), random: { next: Math.random } });
    opened.push(store);
    return store;
  };
  const close = async (store: SqliteStore, clean: boolean) => {
    opened.splice(opened.indexOf(store), 1);
    await store.close({ clean });
  };

  it('makes its directory and syncs every commit', async () => {
    const { db } = await open();
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['ax.db', 'ax.lock']));
    const pragma = (name: string) => db.read((sql) => sql.rows(`PRAGMA ${name}`));
    expect(await pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await pragma('synchronous')).toEqual([{ synchronous: 2 }]);
  });

  it('keeps what it stored', async () => {
    const task = buildTask();
    const first = await open();
    await new SqlTaskRepo(first.db).insert(task, auditOf(task.id));
    await close(first, false);
    expect(await new SqlTaskRepo((await open()).db).find(task.id)).toEqual(task);
  });

  it('refuses a directory that another ax of this process uses, and names it', async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({
      code: 'refused_start',
      message: expect.stringContaining(dataDir) as string,
    });
    await open(join(home, 'another'));
    await close(first, true);
    await open();
  });

  it('refuses a directory that another process uses, until that one is killed', async () => {
    await close(await open(), true);
    const holder = spawn(process.execPath, ['-e', HOLD_LOCK, join(dataDir, 'ax.lock')]);
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    await expect(open()).rejects.toMatchObject({ code: 'refused_start' });
    const gone = new Promise((resolve) => holder.once('exit', resolve));
    holder.kill('SIGKILL');
    await gone;
    await open();
  });

  it('refuses a path that is no directory, and names it', async () => {
    const file = join(home, 'file');
    await writeFile(file, '');
    await expect(open(file)).rejects.toMatchObject({
      code: 'refused_start',
      message: expect.stringContaining(file) as string,
    });
  });

  it('stays readable for other programs', async () => {
    const { db } = await open();
    const task = buildTask();
    await new SqlTaskRepo(db).insert(task, auditOf(task.id));
    const reader = new Database(join(dataDir, 'ax.db'), { readonly: true });
    expect(reader.prepare('SELECT id FROM task_meta').all()).toEqual([{ id: task.id }]);
    reader.close();
  });

  it('keeps the queue epoch over a clean end only, and only once', async () => {
    const first = await open();
    await close(first, true);
    const second = await open();
    expect(second.queueEpoch).toBe(first.queueEpoch);
    await close(second, false);
    const third = await open();
    expect(third.queueEpoch).not.toBe(first.queueEpoch);
    expect(third.queueEpoch).toMatch(/^\S{16,}$/);
  });

  it('waits for another writer, and says unavailable when that one does not end', async () => {
    const { db } = await open();
    const tasks = new SqlTaskRepo(db);
    const writer = new Database(join(dataDir, 'ax.db'));
    writer.exec('BEGIN IMMEDIATE');
    const [task, other] = [buildTask(), buildTask()];
    await expect(tasks.insert(task, auditOf(task.id))).rejects.toMatchObject({ code: 'unavailable' });
    const waiting = tasks.insert(other, auditOf(other.id));
    await new Promise((resolve) => setImmediate(resolve));
    writer.exec('COMMIT');
    await waiting;
    writer.close();
    expect(await tasks.find(task.id)).toBeNull();
    expect(await tasks.find(other.id)).toEqual(other);
  });
});
