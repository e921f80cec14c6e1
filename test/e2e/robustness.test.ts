import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { reply } from '../support/callee-answers.js';
import { Cluster } from '../support/cluster.js';
import { exposedBy, valueIn } from '../support/exposed.js';
import { until } from '../support/until.js';

interface TaskJson {
  readonly id: string;
  readonly error: string | null;
  readonly next_trigger_time: string | null;
}

interface ExecutionJson {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
}

const metric = async (ax: AxProcess, name: string): Promise<number> =>
  valueIn(await exposedBy(ax), name) ?? 0;

describe('one node of a cluster', () => {
  let callee: Callee;
  let cluster: Cluster;

  beforeAll(async () => {
    callee = await Callee.start();
    cluster = await Cluster.create({ AX_DRAIN_SEC: '5' });
  }, 60_000);

  afterAll(async () => {
    await cluster.close();
    await callee.close();
  });

  afterEach(async () => {
    await Promise.all(cluster.processes.splice(0).map((ax) => ax.stop()));
  });

  const everySecond = (id: string, url: string, more: object = {}) => ({
    id,
    name: id,
    schedule_type: 'cron',
    cron_expr: '* * * * * *',
    executor: { type: 'http', url },
    ...more,
  });
  const countOf = async (ax: AxProcess, query: string) =>
    (await ax.api<{ items: ExecutionJson[] }>('GET', `/api/executions?page_size=200&${query}`)).json.items
      .length;

  it('shows a row that was edited into nonsense as an error on its task, and fires all others', async () => {
    const ax = await cluster.serve('all');
    const url = callee.on('/nonsense', reply());
    for (const id of ['sound', 'spoilt']) {
      expect((await ax.api('POST', '/api/tasks', everySecond(id, url))).status).toBe(201);
    }
    await until('both run', async () => (await countOf(ax, 'task_id=spoilt&status=success')) > 0);
    await cluster.query(`UPDATE task_meta SET cron_expr = 'every now and then' WHERE id = 'spoilt'`);

    const spoilt = await until('the error shows', async () => {
      const { json } = await ax.api<TaskJson>('GET', '/api/tasks/spoilt');
      return json.error === null ? null : json;
    });
    expect(spoilt.error).toContain('every now and then');
    await until('it is counted', async () => (await metric(ax, 'ax_task_errors_total')) > 0);
    expect(ax.lines.some(({ level, task_id }) => level === 'error' && task_id === 'spoilt')).toBe(true);
    const before = await countOf(ax, 'task_id=sound&status=success');
    await until(
      'the other goes on',
      async () => (await countOf(ax, 'task_id=sound&status=success')) >= before + 2,
    );

    const mended = await ax.api<TaskJson>('PUT', '/api/tasks/spoilt', {
      ...everySecond('spoilt', url),
      id: 'spoilt',
    });
    expect(mended.status).toBe(200);
    expect(mended.json.error).toBeNull();
    const runs = await countOf(ax, 'task_id=spoilt&status=success');
    await until('it runs again', async () => (await countOf(ax, 'task_id=spoilt&status=success')) > runs);
  }, 60_000);

  it('drains at SIGTERM: the run in flight finishes, and the process ends with 0', async () => {
    const ax = await cluster.serve('all');
    const url = callee.on('/slow', reply({ delayMs: 1500 }));
    await ax.api('POST', '/api/tasks', everySecond('slow', url, { enabled: false }));
    const run = await ax.api<{ execution_id: string }>('POST', '/api/tasks/slow/run');
    expect(run.status).toBe(202);
    await until('the callee is asked', () => callee.requests.some((request) => request.path === '/slow'));

    expect(await ax.stop()).toBe(0);
    const rows = await cluster.query<{ status: string }>(
      `SELECT status FROM execution_log WHERE id = '${run.json.execution_id}'`,
    );
    expect(rows).toEqual([{ status: 'success' }]);
  }, 60_000);

  it('runs a manual run once, whatever the number of concurrent requests with one key', async () => {
    const ax = await cluster.serve('all');
    const url = callee.on('/by-hand', reply());
    await ax.api('POST', '/api/tasks', everySecond('by-hand', url, { enabled: false }));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        ax.api<{ execution_id: string }>(
          'POST',
          '/api/tasks/by-hand/run',
          { params: { n: 1 } },
          { 'Idempotency-Key': 'k1' },
        ),
      ),
    );
    expect(new Set(answers.map(({ json }) => json.execution_id)).size).toBe(1);
    const id = answers[0]?.json.execution_id;
    await until(
      'it succeeds',
      async () => (await ax.api<ExecutionJson>('GET', `/api/executions/${id}`)).json.status === 'success',
    );
    expect(callee.requests.filter((request) => request.path === '/by-hand')).toHaveLength(1);
  }, 60_000);
});

describe('what ax refuses at start', () => {
  it('a database without its tables, and says how to make them', async () => {
    const name = `ax_e2e_${randomBytes(6).toString('hex')}`;
    const url = new URL(inject('mysqlUrl'));
    const admin = await mysql.createConnection(url.href);
    await admin.query(`CREATE DATABASE ${name}`);
    url.pathname = `/${name}`;
    const ax = AxProcess.spawn(['serve'], {
      AX_MYSQL_URL: url.href,
      AX_REDIS_URL: inject('redisUrl'),
      AX_HTTP_PORT: '0',
    });
    expect(await ax.exit()).toBe(1);
    expect(ax.output()).toContain('ax migrate');
    const [tables] = await admin.query(`SHOW TABLES FROM ${name}`);
    expect(tables).toEqual([]);
    await admin.query(`DROP DATABASE ${name}`);
    await admin.end();
  }, 30_000);

  it('one URL alone, an unknown variable and a bad value, all in one report', async () => {
    const ax = AxProcess.spawn(['serve'], {
      AX_MYSQL_URL: 'mysql://ax@127.0.0.1/ax',
      AX_HTTP_PROT: '1',
    });
    expect(await ax.exit()).toBe(1);
    expect(ax.output()).toContain('did you mean AX_HTTP_PORT');
  });

  it('an address that is taken', async () => {
    const callee = await Callee.start();
    const dataDir = await mkdtemp(join(tmpdir(), 'ax-e2e-'));
    const port = String(callee.port);
    const ax = AxProcess.spawn(['serve'], { AX_HTTP_PORT: port, AX_DATA_DIR: dataDir });
    expect(await ax.exit()).toBe(1);
    expect(ax.output()).toContain(`cannot listen on 127.0.0.1:${port}`);
    await callee.close();
    await rm(dataDir, { recursive: true });
  }, 30_000);
});
