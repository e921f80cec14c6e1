import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';

describe('POST /api/schedules/preview', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
  });
  afterAll(async () => {
    expect(api.logger.lines.filter(([level]) => level === 'error')).toEqual([]);
    await api.close();
  });

  const preview = (body: unknown) => api.call('POST', '/api/schedules/preview', body);

  it('says what a schedule means and when it fires, strictly after from', async () => {
    const body = {
      schedule_type: 'cron',
      cron_expr: '0 9 * * 1-5',
      timezone: 'Asia/Shanghai',
      from: '2026-10-09T09:00:00+08:00',
      n: 2,
    };
    const answer = await preview(body);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      description: 'At 09:00, Monday through Friday, Asia/Shanghai',
      description_zh: '在09:00, 星期一至星期五, Asia/Shanghai',
      warnings: [],
      fires: [
        {
          at: '2026-10-12T01:00:00.000Z',
          fires_at: '2026-10-12T01:00:00.000Z',
          local: '2026-10-12T09:00:00.000+08:00',
          note: null,
        },
        {
          at: '2026-10-13T01:00:00.000Z',
          fires_at: '2026-10-13T01:00:00.000Z',
          local: '2026-10-13T09:00:00.000+08:00',
          note: null,
        },
      ],
      zone_data: process.versions.tz,
    });
  });

  it('begins now, with five, and takes cron for the type', async () => {
    const { json } = await preview({ cron_expr: '*/7 * * * *' });
    const fires = (json['fires'] as { at: string }[]).map(({ at }) => at.slice(11, 16));
    expect(fires).toEqual(['00:07', '00:14', '00:21', '00:28', '00:35']);
    expect(json['warnings']).toEqual([expect.stringContaining('"*/7" at position 1 does not divide 60')]);
  });

  it('notes what the clocks have to do with a fire time', async () => {
    const notesOf = async (body: object) => {
      const { json } = await preview({ timezone: 'America/New_York', n: 3, ...body });
      return (json['fires'] as { local: string; note: string | null }[]).map(({ local, note }) => [
        local.slice(0, 16),
        note?.slice(0, 35) ?? null,
      ]);
    };
    const gap = { cron_expr: '30 2 * * *', from: '2026-03-07T12:00:00Z' };
    expect(await notesOf(gap)).toEqual([
      ['2026-03-08T03:00', '2026-03-08 02:30:00 does not exist,'],
      ['2026-03-09T02:30', null],
      ['2026-03-10T02:30', null],
    ]);
    expect((await notesOf({ ...gap, dst_gap: 'skip' }))[0]).toEqual(['2026-03-09T02:30', null]);
    const overlap = { cron_expr: '30 1 * * *', from: '2026-10-31T12:00:00Z', dst_overlap: 'both' };
    expect(await notesOf(overlap)).toEqual([
      ['2026-11-01T01:30', '2026-11-01 01:30:00 comes twice, as'],
      ['2026-11-01T01:30', '2026-11-01 01:30:00 comes twice, as'],
      ['2026-11-02T01:30', null],
    ]);
  });

  it('takes schedules of every type, also one that has ended', async () => {
    const interval = { schedule_type: 'interval', interval: 5400, n: 1 };
    expect((await preview(interval)).json).toMatchObject({
      description: 'Every 90 minutes, counted from 2026-01-05T00:00:00.000Z',
      fires: [{ at: '2026-01-05T01:30:00.000Z' }],
    });
    const once = { schedule_type: 'once', run_at: '2026-01-04T00:00:00Z' };
    expect((await preview(once)).json).toMatchObject({
      description_zh: '仅一次, 于 2026-01-04T00:00:00.000Z',
      fires: [],
    });
    const ended = { cron_expr: '@hourly', end_at: '2025-01-01T00:00:00Z' };
    expect((await preview(ended)).json).toMatchObject({ fires: [] });
  });

  it.each([
    [{ cron_expr: '0 0 30 2 *' }, { field: 'cron_expr', kind: 'never_fires' }],
    [{ cron_expr: '0 25 * * *' }, { field: 'cron_expr', kind: 'out_of_range', token: '25', position: 3 }],
    [{ cron_expr: '@daily', timezone: 'Mars/Phobos' }, { field: 'timezone' }],
    [
      { cron_expr: '@daily', n: 101 },
      { field: 'n', fix: 'give a whole number from 1 to 100' },
    ],
    [{ cron_expr: '@daily', n: 0 }, { field: 'n' }],
    [{ cron_expr: '@daily', from: '2026-01-05' }, { field: 'from' }],
    [{ cron_expr: '@daily', interval: 5 }, { field: 'interval' }],
    [
      { cron_expr: '@daily', name: 'x' },
      { field: 'name', problem: 'is not a known field' },
    ],
    [{}, { field: 'cron_expr', problem: 'is missing' }],
    [[], { field: 'body' }],
  ])('refuses %j', async (body, error) => {
    const answer = await preview(body);
    expect(answer.status).toBe(400);
    expect((answer.json['errors'] as unknown[])[0]).toMatchObject(error);
  });

  it('needs a token', async () => {
    const answer = await fetch(`${api.address}/api/schedules/preview`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
  });
});
