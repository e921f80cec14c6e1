import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AxError } from '../../src/domain/errors.js';
import { ApiServer } from '../support/api-server.js';
import { buildWorker } from '../support/pools.js';
import { until } from '../support/until.js';

const LIFE_MS = 3_600_000;
const hourly = {
  name: 'n',
  schedule_type: 'cron',
  cron_expr: '0 * * * *',
  executor: { type: 'http', url: 'http://orders:8080/jobs/sync' },
};
const shell = { ...hourly, executor: { type: 'shell', command: 'true' } };

describe('pools in the API', () => {
  let api: ApiServer;
  let reads: number;
  beforeEach(async () => {
    api = await ApiServer.start();
    reads = 0;
    const list = api.registry.list.bind(api.registry);
    api.registry.list = () => {
      reads += 1;
      return list();
    };
  });
  afterEach(() => api.close());

  const serve = (overrides: Parameters<typeof buildWorker>[0] = {}) =>
    api.registry.announce(buildWorker(overrides), LIFE_MS);
  /** Gives what brings it back. */
  const loseRegistry = () => {
    const list = api.registry.list.bind(api.registry);
    api.registry.list = () => Promise.reject(new AxError('unavailable', 'Redis is away'));
    return () => void (api.registry.list = list);
  };
  const create = async (id: string, overrides: Record<string, unknown> = {}) => {
    const answer = await api.call('POST', '/api/tasks', { ...hourly, id, ...overrides });
    expect(answer.status, answer.text).toBe(201);
    return answer.json;
  };
  const statusOf = async (path: string) => (await api.call('GET', path)).json['pool_status'];

  it('shows the live workers', async () => {
    expect((await api.call('GET', '/api/workers')).json).toEqual({ items: [], next_cursor: null });
    await serve({ pools: ['default', 'batch'], executors: ['http', 'mq'], running: 2, isDraining: true });
    expect((await api.call('GET', '/api/workers')).json['items']).toEqual([
      {
        instance: 'worker-1/1',
        node: 'worker-1',
        pools: ['default', 'batch'],
        executors: ['http', 'mq'],
        concurrency: 100,
        running: 2,
        draining: true,
        version: '0.1.0',
        zone_data: '2025c',
        started_at: '2026-01-05T00:00:00.000Z',
        seen_at: '2026-01-05T00:00:00.000Z',
      },
    ]);
  });

  it('shows with each task how many workers serve it, and why its runs wait', async () => {
    await serve({ instance: 'a' });
    await serve({ instance: 'b', pools: ['default', 'batch'] });
    await serve({ instance: 'c', isDraining: true });
    await create('served');
    await create('waiting', { pool: 'nobody' });
    await create('mq', { pool: 'batch', executor: { type: 'mq', routing_key: 'jobs' } });
    expect(await statusOf('/api/tasks/served')).toEqual({ live_workers: 2, problem: null });
    expect(await statusOf('/api/tasks/waiting')).toEqual({
      live_workers: 0,
      problem: 'no live worker serves pool "nobody"; runs wait until one does',
    });
    expect(await statusOf('/api/tasks/mq')).toEqual({
      live_workers: 0,
      problem: 'no live worker of pool "batch" runs executors of type mq; runs wait until one does',
    });
    reads = 0;
    const items = (await api.call('GET', '/api/tasks')).json['items'] as { pool_status: unknown }[];
    expect(items.map(({ pool_status }) => pool_status)).toMatchObject([
      { live_workers: 0 },
      { live_workers: 2 },
      { live_workers: 0 },
    ]);
    expect(reads).toBe(1);
  });

  it('takes a task back as it was read, and refuses the field in a new one', async () => {
    const task = await create('a');
    expect(task['pool_status']).toMatchObject({ live_workers: 0 });
    const put = await api.call('PUT', '/api/tasks/a', { ...task, name: 'other' });
    expect(put.json).toMatchObject({ name: 'other', version: 2 });
    const refused = await api.call('POST', '/api/tasks', { ...hourly, pool_status: null });
    expect(refused.json['errors']).toMatchObject([{ field: 'pool_status', problem: 'is set by ax' }]);
  });

  it('shows with a pending execution why it waits, and with others nothing', async () => {
    await create('a', { pool: 'nobody' });
    const { json } = await api.call('POST', '/api/tasks/a/run');
    const path = `/api/executions/${String(json['execution_id'])}`;
    expect(await statusOf(path)).toMatchObject({ live_workers: 0 });
    await serve({ pools: ['nobody'] });
    expect(await statusOf(path)).toEqual({ live_workers: 1, problem: null });
    await api.call('DELETE', '/api/tasks/a');
    expect(await statusOf(path)).toBeNull();
  });

  it('knows nothing while the registry is away, and answers all the same', async () => {
    await create('a');
    const { json } = await api.call('POST', '/api/tasks/a/run');
    loseRegistry();
    for (const path of ['/api/tasks/a', `/api/executions/${String(json['execution_id'])}`])
      expect(await api.call('GET', path)).toMatchObject({ status: 200, json: { pool_status: null } });
    expect((await api.call('GET', '/api/tasks')).json['items']).toMatchObject([{ pool_status: null }]);
    expect(await create('b')).toMatchObject({ pool_status: null });
    expect((await api.call('GET', '/api/workers')).status).toBe(503);
  });

  it('does not wait long for a registry that does not answer', async () => {
    await create('a');
    api.registry.list = () => new Promise(() => undefined);
    const answer = api.call('GET', '/api/tasks/a');
    await until('the request waits', () => api.clock.pendingTimers > 0);
    await api.clock.advance(500);
    expect((await answer).json['pool_status']).toBeNull();
  });

  it('refuses a shell task that no live worker of its pool would run, and takes it once one allows shell', async () => {
    await serve();
    await serve({ instance: 'elsewhere', pools: ['batch'], executors: ['http', 'shell'] });
    await create('a');
    const before = (await api.call('GET', '/api/tasks')).json;
    for (const enabled of [true, false]) {
      for (const [method, path] of [
        ['POST', '/api/tasks'],
        ['PUT', '/api/tasks/a'],
      ] as const) {
        const { status, json } = await api.call(method, path, { ...shell, enabled });
        expect(status).toBe(400);
        expect(json['errors']).toEqual([
          {
            field: 'executor.type',
            problem: 'is shell, which no live worker of pool "default" allows',
            fix: 'set AX_SHELL_ENABLED=true on a worker of pool "default", or name a pool that has one',
          },
        ]);
      }
    }
    expect((await api.call('GET', '/api/tasks')).json).toEqual(before);
    await create('b', { ...shell, pool: 'batch' });
    await serve({ executors: ['http', 'shell'] });
    expect((await api.call('PUT', '/api/tasks/a', shell)).status).toBe(200);
  });

  it('says that it cannot know while the registry is away, and changes nothing', async () => {
    await serve({ executors: ['http', 'shell'] });
    await create('a');
    const bringBack = loseRegistry();
    expect(await api.call('POST', '/api/tasks', shell)).toMatchObject({ status: 503 });
    expect((await api.call('PUT', '/api/tasks/a', shell)).headers.get('retry-after')).not.toBeNull();
    expect((await api.call('PUT', '/api/tasks/a', hourly)).status).toBe(200);
    bringBack();
    const items = (await api.call('GET', '/api/tasks')).json['items'];
    expect(items).toMatchObject([{ id: 'a', version: 2, executor: { type: 'http' } }]);
  });

  it('lets a shell task be switched off and on whoever lives', async () => {
    await serve({ executors: ['http', 'shell'] });
    await create('a', shell);
    await api.registry.withdraw(buildWorker().instance);
    const toggle = (enabled: boolean) => api.call('POST', '/api/tasks/a/toggle', { enabled });
    expect((await toggle(false)).json).toMatchObject({ enabled: false });
    expect((await toggle(true)).json).toMatchObject({ enabled: true, pool_status: { live_workers: 0 } });
  });
});
