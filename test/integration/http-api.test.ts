import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { taskJson } from '../../src/adapters/http/task-json.js';
import { anyTask } from '../support/any-task.js';
import { ApiServer } from '../support/api-server.js';

const executor = { type: 'http', url: 'http://orders:8080/jobs/sync' };
const hourly = { name: 'Sync orders', schedule_type: 'cron', cron_expr: '0 * * * *', executor };

/** Tasks over HTTP, stored in SQLite; every test uses ids of its own. */
describe('the API of tasks', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
  });
  afterAll(async () => {
    expect(api.logger.lines.filter(([level]) => level === 'error')).toEqual([]);
    await api.close();
  });

  const create = async (id: string, fields: object = {}) => {
    const answer = await api.call('POST', '/api/tasks', { id, ...hourly, ...fields });
    expect(answer.text).toContain(`"id":"${id}"`);
    return answer;
  };
  const read = async (id: string) => (await api.call('GET', `/api/tasks/${id}`)).json;

  it('creates a task with the safe defaults and shows all of it', async () => {
    const wakeups = api.wakeups;
    const answer = await create('defaults');
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe('/api/tasks/defaults');
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.json).toEqual({
      id: 'defaults',
      name: 'Sync orders',
      group: 'default',
      schedule_type: 'cron',
      cron_expr: '0 * * * *',
      cron_dialect: 'unix',
      timezone: 'UTC',
      dst_gap: 'fire_after',
      dst_overlap: 'first',
      calendar: null,
      calendar_rule: null,
      calendar_shift: null,
      interval: null,
      run_at: null,
      start_at: null,
      end_at: null,
      jitter_sec: 0,
      executor: { ...executor, method: 'POST', headers: {}, ack: 'response', signature: null },
      params: null,
      timeout_sec: 30,
      retry_count: 0,
      retry_interval: 10,
      retry_strategy: 'fixed',
      retry_max_interval: 3600,
      retry_jitter: false,
      slow_after_sec: null,
      max_concurrent: 1,
      overlap_policy: 'skip',
      misfire_policy: 'fire_once',
      misfire_limit: 10,
      misfire_max_age_sec: 86_400,
      window_sec: 5,
      idempotent: false,
      hooks: { pre: null, post: null },
      description: 'Every hour, UTC',
      description_zh: '每小时, UTC',
      warnings: [],
      pool: 'default',
      labels: {},
      owner: null,
      enabled: true,
      next_trigger_time: '2026-01-05T01:00:00.000Z',
      version: 1,
      created_at: '2026-01-05T00:00:00.000Z',
      updated_at: '2026-01-05T00:00:00.000Z',
      error: null,
      pool_status: { live_workers: 0, problem: expect.stringContaining('"default"') as string },
    });
    expect(await read('defaults')).toEqual(answer.json);
    expect(api.wakeups).toBe(wakeups + 1);
  });

  it('chooses an id if none is given', async () => {
    const { json, headers } = await api.call('POST', '/api/tasks', hourly);
    expect(json['id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('location')).toBe(`/api/tasks/${String(json['id'])}`);
    await api.call('DELETE', `/api/tasks/${String(json['id'])}`);
  });

  it('keeps a task as it is when what was read is written again', async () => {
    await fc.assert(
      fc.asyncProperty(anyTask(api.clock.now()), async (task) => {
        const { next_trigger_time, version, created_at, updated_at, error, pool_status, ...writable } =
          taskJson(task, null);
        void [next_trigger_time, version, created_at, updated_at, error, pool_status];
        const created = await api.call('POST', '/api/tasks', writable);
        expect(created.status, created.text).toBe(201);
        const path = `/api/tasks/${task.id}`;
        const before = (await api.call('GET', path)).json;
        const put = await api.call('PUT', path, before);
        expect(put.status, put.text).toBe(200);
        const after = (await api.call('GET', path)).json;
        expect(after).toEqual({ ...before, version: 2, updated_at: after['updated_at'] });
        expect(before).toEqual({ ...created.json });
        expect(await api.call('DELETE', path)).toMatchObject({ status: 204, text: '' });
      }),
      { numRuns: 30 },
    );
  });

  it('replaces the whole definition: what is left out is the default again', async () => {
    await create('replace', { timeout_sec: 60, owner: 'ann', labels: { tier: 'gold' } });
    const { status, json, headers } = await api.call('PUT', '/api/tasks/replace', {
      ...hourly,
      cron_expr: '30 2 * * *',
      timezone: 'America/New_York',
    });
    expect([status, headers.get('etag')]).toEqual([200, '"2"']);
    expect(json).toMatchObject({
      timeout_sec: 30,
      owner: null,
      labels: {},
      version: 2,
      next_trigger_time: '2026-01-05T07:30:00.000Z',
    });
  });

  it('refuses an id that is taken', async () => {
    await create('taken', { name: 'first' });
    const answer = await api.call('POST', '/api/tasks', { ...hourly, id: 'taken', name: 'second' });
    expect([answer.status, answer.json['code']]).toEqual([409, 'already_exists']);
    expect(await read('taken')).toMatchObject({ name: 'first', version: 1 });
  });

  it('turns a task off and on again', async () => {
    await create('toggle');
    const toggle = async (body?: object) => (await api.call('POST', '/api/tasks/toggle/toggle', body)).json;
    expect(await toggle()).toMatchObject({ enabled: false, version: 2, next_trigger_time: null });
    expect(await toggle({ enabled: false })).toMatchObject({ enabled: false, version: 2 });
    expect(await toggle({})).toMatchObject({ enabled: true, next_trigger_time: '2026-01-05T01:00:00.000Z' });
    const fromDisabled = { enabled: false, ...hourly, name: 'off' };
    expect((await api.call('PUT', '/api/tasks/toggle', fromDisabled)).json).toMatchObject({ enabled: false });
  });

  it('deletes a task', async () => {
    await create('gone');
    expect(await api.call('DELETE', '/api/tasks/gone', undefined, { 'if-match': '"1"' })).toMatchObject({
      status: 204,
    });
    expect((await api.call('GET', '/api/tasks/gone')).status).toBe(404);
    expect((await api.call('DELETE', '/api/tasks/gone')).status).toBe(404);
  });

  it('says in words what it understood, and what of it is rarely meant', async () => {
    const quartz = { cron_expr: '0 0 9 ? * 2-6', cron_dialect: 'quartz', timezone: 'Asia/Shanghai' };
    const { json } = await create('in-words', quartz);
    const words = {
      description: 'At 09:00, Monday through Friday, Asia/Shanghai',
      description_zh: '在09:00, 星期一至星期五, Asia/Shanghai',
      warnings: [],
    };
    expect(json).toMatchObject({ ...quartz, ...words });
    const edited = await api.call('PUT', '/api/tasks/in-words', { ...json, cron_dialect: 'unix' });
    expect(edited.json).toMatchObject({
      cron_dialect: 'unix',
      description: 'At 09:00, Tuesday through Saturday, Asia/Shanghai',
      warnings: [expect.stringContaining('"2-6" is TUE, WED, THU, FRI, SAT') as string],
    });
    const given = await api.call('POST', '/api/tasks', { id: 'x', ...hourly, warnings: [] });
    expect([given.status, given.json['errors']]).toMatchObject([400, [{ field: 'warnings' }]]);
  });

  it('keeps how a cron task is read and what changes of the clocks do to it', async () => {
    const rules = { cron_dialect: 'quartz', dst_gap: 'skip', dst_overlap: 'both' };
    await create('ruled', { cron_expr: '0 30 1 ? * 1', timezone: 'America/New_York', ...rules });
    expect(await read('ruled')).toMatchObject(rules);
    const { json } = await api.call('GET', '/api/tasks/ruled/next?n=44');
    const fires = (json['fires'] as { local: string }[]).map(({ local }) => local);
    expect(fires.slice(-2)).toEqual(['2026-11-01T01:30:00.000-04:00', '2026-11-01T01:30:00.000-05:00']);
    for (const fields of [{ dst_gap: 'later' }, { cron_dialect: 'spring' }, { dst_overlap: 1 }]) {
      const refused = await api.call('POST', '/api/tasks', { ...hourly, ...fields });
      expect(refused.json).toMatchObject({ status: 400, errors: [{ field: Object.keys(fields)[0] }] });
    }
    const foreign = { schedule_type: 'interval', cron_expr: null, interval: 60, dst_gap: 'skip' };
    expect((await api.call('POST', '/api/tasks', { ...hourly, ...foreign })).json).toMatchObject({
      errors: [{ field: 'dst_gap', problem: 'does not belong to schedule_type "interval"' }],
    });
  });

  it('keeps jitter, says it in words, and shows slots as fire times', async () => {
    const answer = await create('jittered', { jitter_sec: 90 });
    expect(answer.json).toMatchObject({
      jitter_sec: 90,
      description: 'Every hour, UTC, each up to 90 s later',
    });
    expect(await read('jittered')).toEqual(answer.json);
    const { json } = await api.call('GET', '/api/tasks/jittered/next?n=1');
    const [{ at, fires_at: firesAt } = { at: '', fires_at: '' }] = json['fires'] as {
      at: string;
      fires_at: string;
    }[];
    expect(at).toBe('2026-01-05T01:00:00.000Z');
    expect(Date.parse(firesAt)).toBeGreaterThan(Date.parse(at));
    const schedule = { cron_expr: '0 * * * *', jitter_sec: answer.json['jitter_sec'], n: 1 };
    const preview = async (fields: object) =>
      (await api.call('POST', '/api/schedules/preview', fields)).json['fires'];
    expect(await preview(schedule)).toMatchObject([{ at, fires_at: null }]);
    expect(await preview({ ...schedule, id: 'jittered' })).toMatchObject([{ at, fires_at: firesAt }]);
    const once = { schedule_type: 'once', cron_expr: null, run_at: '2026-01-06T08:00:00Z' };
    for (const fields of [{ jitter_sec: 86_401 }, { jitter_sec: '5' }, { ...once, jitter_sec: 5 }]) {
      const refused = await api.call('POST', '/api/tasks', { ...hourly, ...fields });
      expect(refused.json).toMatchObject({ status: 400, errors: [{ field: 'jitter_sec' }] });
    }
  });

  it('says when a task fires next, in UTC and on its own clocks', async () => {
    await create('next', { cron_expr: '30 1 8 3,11 *', timezone: 'America/New_York' });
    expect((await api.call('GET', '/api/tasks/next/next?n=2')).json).toEqual({
      fires: [
        {
          at: '2026-03-08T06:30:00.000Z',
          fires_at: '2026-03-08T06:30:00.000Z',
          local: '2026-03-08T01:30:00.000-05:00',
        },
        {
          at: '2026-11-08T06:30:00.000Z',
          fires_at: '2026-11-08T06:30:00.000Z',
          local: '2026-11-08T01:30:00.000-05:00',
        },
      ],
    });
    expect((await api.call('GET', '/api/tasks/next/next')).json['fires']).toHaveLength(5);
    await create('once', { schedule_type: 'once', cron_expr: null, run_at: '2026-01-06T08:00:00.5+08:00' });
    expect((await api.call('GET', '/api/tasks/once/next')).json).toEqual({
      fires: [
        {
          at: '2026-01-06T00:00:00.500Z',
          fires_at: '2026-01-06T00:00:00.500Z',
          local: '2026-01-06T00:00:00.500+00:00',
        },
      ],
    });
  });

  it.each([
    ['cron', { end_at: '2026-01-05T01:00:00Z' }],
    ['interval', { cron_expr: null, interval: 60, end_at: '2026-01-05T01:00:00Z' }],
    ['once', { cron_expr: null, run_at: '2026-01-05T01:00:00Z' }],
  ])('lets a task be renamed whose %s schedule has ended', async (schedule_type, fields) => {
    const id = `ended-${schedule_type}`;
    const { json } = await create(id, { schedule_type, ...fields });
    await api.store.db.knex('task_meta').where({ id }).update({ next_trigger_time: null });
    const start = api.clock.now();
    api.clock.set(start + 86_400_000);
    const renamed = await api.call('PUT', `/api/tasks/${id}`, { ...json, name: 'renamed' });
    const moved = await api.call('PUT', `/api/tasks/${id}`, { ...hourly, end_at: '2026-01-05T02:00:00Z' });
    api.clock.set(start);
    expect(renamed.status, renamed.text).toBe(200);
    expect(renamed.json).toMatchObject({ name: 'renamed', next_trigger_time: null, version: 2 });
    expect([moved.status, moved.json['errors']]).toMatchObject([400, [{ field: 'end_at' }]]);
  });

  it('never answers "not modified": the next trigger time changes while the version stays', async () => {
    await create('fresh');
    expect((await api.call('GET', '/api/tasks/fresh', undefined, { 'if-none-match': '"1"' })).status).toBe(
      200,
    );
  });

  it('shows a row that is no task any more, and mends it by PUT', async () => {
    await create('broken', { group: 'ruins' });
    await api.store.db.knex('task_meta').where({ id: 'broken' }).update({ timezone: 'Mars/Phobos' });
    const { json, status } = await api.call('GET', '/api/tasks/broken');
    expect(status).toBe(200);
    expect(json).toEqual({
      id: 'broken',
      name: 'Sync orders',
      group: 'ruins',
      enabled: true,
      version: 1,
      error: expect.stringContaining('Mars/Phobos') as string,
    });
    expect((await api.call('GET', '/api/tasks?group=ruins')).json['items']).toEqual([json]);
    for (const path of ['run', 'toggle']) {
      const refused = await api.call('POST', `/api/tasks/broken/${path}`);
      expect([refused.status, refused.json['code']]).toEqual([409, 'conflict']);
    }
    const mended = await api.call('PUT', '/api/tasks/broken', hourly, { 'if-match': '"1"' });
    expect(mended.json).toMatchObject({ version: 2, error: null, timezone: 'UTC' });
  });

  it('records who changed what', async () => {
    await create('audited');
    await api.call('POST', '/api/tasks/audited/toggle');
    const entries = await api.audit.list({ subject: 'audited', limit: 10 });
    expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
      ['admin', 'task.toggle'],
      ['admin', 'task.create'],
    ]);
  });
});
