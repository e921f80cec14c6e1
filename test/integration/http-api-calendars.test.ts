import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';

const executor = { type: 'http', url: 'http://orders:8080/jobs/sync' };
const nightly = { name: 'n', schedule_type: 'cron', cron_expr: '0 9 * * *', executor };
const china = {
  name: 'china',
  description: 'Mainland',
  weekend: ['Saturday', 'sun'],
  holidays: [{ date: '2026-01-01', name: '元旦' }, '2026-01-02'],
  workdays: [{ date: '2026-01-04' }],
  excluded_times: [{ from: '01:00:00', to: '05:00:00' }],
  known_until: '2026-12-31',
};

describe('calendars in the API', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
  });
  afterAll(async () => {
    expect(api.logger.lines).toEqual([]);
    await api.close();
  });

  const post = (calendar: object) => api.call('POST', '/api/calendars', calendar);
  const get = async (path: string) => (await api.call('GET', path)).json;
  const fieldsOf = (answer: { json: unknown }) =>
    (answer.json as { errors: { field: string }[] }).errors.map(({ field }) => field);

  it('are created, read, replaced and deleted, each change audited', async () => {
    const created = await post(china);
    expect([created.status, created.headers.get('location'), created.headers.get('etag')]).toEqual([
      201,
      '/api/calendars/china',
      '"1"',
    ]);
    expect(created.json).toEqual({
      ...china,
      weekend: [6, 0],
      holidays: [
        { date: '2026-01-01', name: '元旦' },
        { date: '2026-01-02', name: null },
      ],
      workdays: [{ date: '2026-01-04', name: null }],
      filled_from: [],
      version: 1,
      warnings: [],
    });
    expect(await get('/api/calendars/china')).toEqual(created.json);
    expect((await post(china)).status).toBe(409);

    const stale = await api.call('PUT', '/api/calendars/china', china, { 'if-match': '"7"' });
    expect([stale.status, fieldsOf(stale)]).toEqual([412, ['If-Match']]);
    const old = await api.call('PUT', '/api/calendars/china', { ...created.json, version: 9 });
    expect([old.status, fieldsOf(old)]).toEqual([409, ['version']]);
    const replaced = await api.call('PUT', '/api/calendars/china', { ...created.json, description: '' });
    expect(replaced.json).toMatchObject({ version: 2, description: '' });
    const renamed = await api.call('PUT', '/api/calendars/china', { ...china, name: 'other' });
    expect([renamed.status, fieldsOf(renamed)]).toEqual([400, ['name']]);

    expect((await api.call('DELETE', '/api/calendars/china', undefined, { 'if-match': '"2"' })).status).toBe(
      204,
    );
    expect((await api.call('GET', '/api/calendars/china')).status).toBe(404);
    expect((await api.call('GET', '/api/calendars/%20')).status).toBe(404);
    const actions = (await api.audit.list({ subject: 'china', limit: 10 })).map(({ action }) => action);
    expect(actions).toEqual(['calendar.delete', 'calendar.update', 'calendar.create']);
  });

  it('are listed with the number of tasks that use them, page by page', async () => {
    await post({ name: 'list-a' });
    await post({ name: 'list-b' });
    await api.call('POST', '/api/tasks', { ...nightly, id: 'list-user', calendar: 'list-b' });
    const items = (await get('/api/calendars'))['items'] as {
      name: string;
      tasks: number;
      weekend: number[];
    }[];
    const shown = items.filter(({ name }) => name.startsWith('list'));
    expect(shown).toMatchObject([
      { name: 'list-a', tasks: 0, weekend: [0, 6] },
      { name: 'list-b', tasks: 1 },
    ]);
    const first = await get('/api/calendars?page_size=1');
    expect(first['items']).toHaveLength(1);
    const next = await get(`/api/calendars?page_size=1&cursor=${String(first['next_cursor'])}`);
    expect(next['items']).not.toEqual(first['items']);
  });

  it.each([
    [{ weekend: [7] }, ['weekend.0']],
    [{ weekend: ['caturday'] }, ['weekend.0']],
    [{ holidays: ['2026-02-30'] }, ['holidays.0.date']],
    [{ holidays: [5] }, ['holidays.0']],
    [{ holidays: ['2026-05-01'], workdays: ['2026-05-01'] }, ['workdays.0.date']],
    [{ excluded_times: [{ from: '05:00:00', to: '01:00:00' }] }, ['excluded_times.0.to']],
    [{ excluded_times: [{ from: '05:00' }] }, ['excluded_times.0.to']],
    [{ known_until: 'soon' }, ['known_until']],
    [{ name: 'a b' }, ['name']],
    [{ name: undefined }, ['name']],
    [{ holiday: [] }, ['holiday']],
    [{ holidays: Array.from({ length: 5001 }, () => '2026-01-01') }, ['holidays']],
  ])('refuses %j with a problem that names the field', async (wrong, fields) => {
    const answer = await post({ name: 'refused', ...wrong });
    expect([answer.status, fieldsOf(answer)]).toEqual([400, fields]);
  });

  it('a task takes one, fires by it, and keeps it from being deleted', async () => {
    await post({ name: 'works', weekend: [1], holidays: ['2026-01-06'] });
    const task = { ...nightly, id: 'user', calendar: 'works', calendar_shift: 'next_workday' };
    const created = await api.call('POST', '/api/tasks', task);
    expect(created.json).toMatchObject({
      calendar: 'works',
      calendar_rule: 'workdays',
      calendar_shift: 'next_workday',
      description: 'At 09:00, UTC, only on working days of calendar works, else on the next working day',
      next_trigger_time: '2026-01-07T09:00:00.000Z',
      warnings: [],
    });
    expect(await get('/api/tasks/user')).toMatchObject({ ...created.json });
    const put = await api.call('PUT', '/api/tasks/user', { ...created.json, calendar_shift: 'none' });
    expect(put.json).toMatchObject({ calendar_shift: 'none', next_trigger_time: '2026-01-07T09:00:00.000Z' });
    const next = (await get('/api/tasks/user/next?n=2'))['fires'] as { at: string }[];
    expect(next.map(({ at }) => at.slice(0, 10))).toEqual(['2026-01-07', '2026-01-08']);
    const refused = await api.call('DELETE', '/api/calendars/works');
    expect([refused.status, refused.json['detail']]).toEqual([
      409,
      'calendar works is used by the tasks user; change those first',
    ]);
    const wakeups = api.wakeups;
    await api.call('PUT', '/api/calendars/works', { weekend: [] });
    expect(await get('/api/tasks/user')).toMatchObject({
      version: 3,
      next_trigger_time: '2026-01-05T09:00:00.000Z',
    });
    expect(api.wakeups).toBe(wakeups + 1);
  });

  it.each([
    [{ calendar: 'nowhere' }, ['calendar']],
    [{ calendar_rule: 'workdays' }, ['calendar_rule']],
    [{ calendar_shift: 'none', calendar_rule: 'holidays' }, ['calendar_rule', 'calendar_shift']],
    [{ calendar: 'rules', calendar_rule: 'weekends' }, ['calendar_rule']],
    [{ calendar: 'rules', calendar_rule: 'holidays', calendar_shift: 'next_workday' }, ['calendar_shift']],
    [{ calendar: 'rules', schedule_type: 'interval', cron_expr: null, interval: 60 }, ['calendar']],
  ])('a task with %j is refused, by field', async (wrong, fields) => {
    await post({ name: 'rules' });
    const answer = await api.call('POST', '/api/tasks', { ...nightly, ...wrong });
    expect([answer.status, fieldsOf(answer)]).toEqual([400, fields]);
    const preview = await api.call('POST', '/api/schedules/preview', { cron_expr: '0 9 * * *', ...wrong });
    expect([preview.status, fieldsOf(preview)]).toEqual([400, fields]);
  });

  it('a preview tells what was moved', async () => {
    await post({ name: 'moves', holidays: ['2026-10-01', '2026-10-02'] });
    const preview = await api.call('POST', '/api/schedules/preview', {
      ...{ cron_expr: '0 9 1 * *', timezone: 'Asia/Shanghai', calendar: 'moves' },
      ...{ calendar_shift: 'next_workday', from: '2026-09-15T00:00:00Z', n: 2 },
    });
    expect(preview.json['fires']).toEqual([
      {
        at: '2026-10-05T01:00:00.000Z',
        fires_at: '2026-10-05T01:00:00.000Z',
        local: '2026-10-05T09:00:00.000+08:00',
        note: 'moved from 2026-10-01 by calendar moves (next_workday)',
      },
      {
        at: '2026-11-02T01:00:00.000Z',
        fires_at: '2026-11-02T01:00:00.000Z',
        local: '2026-11-02T09:00:00.000+08:00',
        note: 'moved from 2026-11-01 by calendar moves (next_workday)',
      },
    ]);
  });

  it('SO-33: a task whose calendar leaves nothing is taken with a warning, and never fires', async () => {
    await post({ name: 'never', weekend: [0, 1, 2, 3, 4, 5, 6] });
    const created = await api.call('POST', '/api/tasks', { ...nightly, id: 'never', calendar: 'never' });
    expect(created.json).toMatchObject({
      next_trigger_time: null,
      warnings: ['calendar: never leaves no fire time (never_fires)'],
    });
    expect(await get('/api/tasks/never/next')).toEqual({ fires: [] });
    const preview = await api.call('POST', '/api/schedules/preview', {
      cron_expr: '0 9 * * *',
      calendar: 'never',
    });
    expect(preview.json).toMatchObject({ fires: [], warnings: created.json['warnings'] });
  });

  it('warns sixty days before the known days end, and afterwards', async () => {
    const warningsOf = async (name: string, known_until: string) => {
      const calendar = await post({ name, known_until });
      const task = await api.call('POST', '/api/tasks', { ...nightly, id: name, calendar: name });
      expect(task.json['warnings']).toEqual(calendar.json['warnings']);
      expect((await get(`/api/tasks/${name}`))['warnings']).toEqual(calendar.json['warnings']);
      return calendar.json['warnings'];
    };
    expect(await warningsOf('far', '2026-03-06')).toEqual([]);
    expect(await warningsOf('near', '2026-03-05')).toEqual([
      'calendar: the known days of near end on 2026-03-05; after it there are no holidays: add those of the next year',
    ]);
    expect(await warningsOf('over', '2025-12-31')).toEqual([
      'calendar: the known days of over ended on 2025-12-31; after it there are no holidays: add those of the next year',
    ]);
  });
});
