import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { reply } from '../support/callee-answers.js';
import { Cluster } from '../support/cluster.js';
import { exposedBy, samplesIn, valueIn } from '../support/exposed.js';
import { prometheusProgram, promtool } from '../support/promtool.js';
import { until } from '../support/until.js';

const TERMINAL = `('success', 'fail', 'timeout', 'skipped')`;
const LEASE_MS = 2000;

describe('metrics of two coordinators and two workers', () => {
  let callee: Callee;
  let cluster: Cluster;
  let coordinators: AxProcess[];
  let workers: AxProcess[];
  beforeAll(async () => {
    await prometheusProgram('promtool');
    callee = await Callee.start();
    callee.on('/fails', reply({ status: 503 }));
    callee.on('/slow', reply({ delayMs: 2500 }));
    cluster = await Cluster.create({ AX_LEASE_MS: String(LEASE_MS) });
    coordinators = [await cluster.serve('coordinator'), await cluster.serve('coordinator')];
    workers = [await cluster.serve('worker'), await cluster.serve('worker')];
    await runEverything();
  }, 420_000);
  afterAll(async () => {
    await cluster.close();
    await callee.close();
  });

  const api = async (method: string, path: string, body?: unknown) => {
    const [coordinator] = coordinators;
    if (coordinator === undefined) throw new Error('there is no coordinator');
    const answer = await coordinator.api<{ id: string }>(method, path, body);
    expect(answer.status, `${method} ${path} ${JSON.stringify(answer.json)}`).toBeLessThan(300);
    return answer.json;
  };
  const create = (id: string, path: string, fields: object = {}) =>
    api('POST', '/api/tasks', {
      ...{ id, name: id, group: `group-of-${id}`, schedule_type: 'interval', interval: 1, idempotent: true },
      executor: { type: 'http', url: `${callee.origin}${path}` },
      ...fields,
    });
  const leader = () =>
    until('one leads', async () => {
      for (const ax of coordinators) if (valueIn(await exposedBy(ax), 'ax_leader') === 1) return ax;
      return null;
    });

  /** Successes, failures, retries, overlaps, manual runs, a misfire, a cancel, and a leader that stands still for longer than its lease. */
  async function runEverything(): Promise<void> {
    await create('good', '/good');
    await create('retried', '/fails', { retry_count: 1, retry_interval: 1, max_concurrent: 5 });
    await create('slow', '/slow');
    await create('late', '/good', { interval: 3600, start_at: '2026-01-05T00:30:00Z' });
    await create('unserved', '/good', { pool: 'nowhere', interval: 3600 });
    await api('POST', '/api/tasks/good/run', {});
    await cluster.query(`UPDATE task_meta SET next_trigger_time = next_trigger_time - INTERVAL 8 HOUR
      WHERE id = 'late'`);
    await pause(3000);
    const paused = await leader();
    paused.child.kill('SIGSTOP');
    await pause(LEASE_MS + 2000);
    paused.child.kill('SIGCONT');
    await pause(3000);
    for (const id of ['good', 'retried', 'slow', 'late']) await api('POST', `/api/tasks/${id}/toggle`, {});
    const run = await api('POST', '/api/tasks/unserved/run', {});
    const { execution_id: id } = run as unknown as { execution_id: string };
    await until('a second worker less run is there', async () => {
      const rows = await cluster.query(`SELECT id FROM trigger_event WHERE id = '${id}'`);
      return rows.length === 1;
    });
    await api('POST', `/api/executions/${id}/cancel`);
    await until(
      'everything has ended',
      async () => {
        const [open] = await cluster.query<{ n: number }>(
          `SELECT COUNT(*) AS n FROM trigger_event e LEFT JOIN execution_log x ON x.id = e.id
           AND x.status IN ${TERMINAL} WHERE x.id IS NULL`,
        );
        return open?.n === 0;
      },
      60_000,
    );
  }

  const texts = () => Promise.all([...coordinators, ...workers].map((ax) => exposedBy(ax)));
  /** The sum over all nodes, by these labels. */
  const sums = async (name: string, by: readonly string[]) => {
    const found = new Map<string, number>();
    for (const text of await texts()) {
      for (const { labels, value } of samplesIn(text, name)) {
        const key = by.map((label) => labels[label]).join(' ');
        found.set(key, (found.get(key) ?? 0) + value);
      }
    }
    return Object.fromEntries([...found].filter(([, value]) => value > 0));
  };
  const rows = async (sql: string) => {
    const found = await cluster.query<Record<string, string | number>>(sql);
    return Object.fromEntries(found.map(({ n, ...key }) => [Object.values(key).join(' '), Number(n)]));
  };

  it('count each execution once, with its task, status and reason', async () => {
    const ended = await rows(`SELECT task_id, status, COALESCE(reason, 'none') AS reason, COUNT(*) AS n
      FROM execution_log GROUP BY 1, 2, 3`);
    expect(await sums('ax_executions_total', ['task', 'status', 'reason'])).toEqual(ended);
    expect(Object.keys(ended)).toEqual(
      expect.arrayContaining([
        'good success none',
        'retried fail http_status',
        'slow skipped overlap',
        'late skipped misfire',
        'unserved skipped cancelled',
      ]),
    );
    const groups = await sums('ax_executions_total', ['group', 'task']);
    expect(
      Object.keys(groups).every((key) => key === `group-of-${key.split(' ')[1]} ${key.split(' ')[1]}`),
    ).toBe(true);
  });

  it('count each attempt once, and each trigger', async () => {
    const attempts =
      await rows(`SELECT x.task_id, JSON_UNQUOTE(JSON_EXTRACT(v.detail_json, '$.status')) AS status,
      COUNT(*) AS n FROM execution_event v JOIN execution_log x ON x.id = v.execution_id
      WHERE v.kind IN ('attempt_failed', 'finished') AND JSON_EXTRACT(v.detail_json, '$.attempt') > 0 GROUP BY 1, 2`);
    expect(await sums('ax_attempts_total', ['task', 'status'])).toEqual(attempts);
    const fired = (by: string) =>
      rows(`SELECT ${by}, COUNT(*) AS n FROM trigger_event e JOIN execution_log x ON x.id = e.id
        WHERE NOT (x.status = 'skipped' AND x.reason = 'misfire') GROUP BY 1`);
    expect(await sums('ax_triggers_total', ['kind'])).toEqual(await fired('e.kind'));
    const scheduled = await rows(`SELECT e.task_id, COUNT(*) AS n FROM trigger_event e
      JOIN execution_log x ON x.id = e.id
      WHERE e.kind = 'schedule' AND NOT (x.status = 'skipped' AND x.reason = 'misfire') GROUP BY 1`);
    expect(await sums('ax_trigger_lateness_seconds_count', ['task'])).toEqual(scheduled);
    expect(await sums('ax_slots_skipped_total', ['reason'])).toEqual({ misfire: 7 });
    expect(await sums('ax_misfires_total', ['policy'])).toMatchObject({
      fire_once: expect.any(Number) as number,
    });
  });

  it('say of the leader what only it knows, once', async () => {
    expect(Object.values(await sums('ax_leader', []))).toEqual([1]);
    expect(Object.values(await sums('ax_leader_changes_total', []))[0]).toBeGreaterThanOrEqual(2);
    const standing = await until('the leader has looked', async () => {
      const found = await Promise.all(
        [...coordinators, ...workers].map(async (ax) => samplesIn(await exposedBy(ax), 'ax_tasks')),
      );
      const told = found.filter((samples) => samples.length > 0);
      const isCounted = told[0]?.some(({ labels, value }) => labels['enabled'] === 'false' && value === 4);
      return isCounted === true && told;
    });
    expect(standing).toHaveLength(1);
    const times = await sums('ax_task_updated_timestamp_seconds', ['group', 'task']);
    expect(Object.keys(times)).toEqual(['group-of-unserved unserved']);
  });

  it('are served by every role, which says what it has and no more, as promtool likes it', async () => {
    const [coordinator = '', , worker = ''] = await texts();
    expect([valueIn(worker, 'ax_leader'), valueIn(worker, 'ax_running_executions')]).toEqual([null, 0]);
    expect(valueIn(coordinator, 'ax_running_executions')).toBeNull();
    expect(samplesIn(worker, 'ax_build_info')[0]?.labels).toMatchObject({ role: 'worker' });
    expect(samplesIn(worker, 'ax_redis_operation_duration_seconds_count')[0]?.value).toBeGreaterThan(0);
    for (const operation of ['read', 'transaction']) {
      const series = `ax_sql_operation_duration_seconds_count{operation="${operation}"}`;
      expect(valueIn(coordinator, series)).toBeGreaterThan(0);
    }
    expect(samplesIn(coordinator, 'ax_sql_pool_connections')).toHaveLength(3);
    for (const text of await texts()) {
      expect(await promtool(['check', 'metrics'], text)).toEqual({ exitCode: 0, output: '' });
    }
  });
});
