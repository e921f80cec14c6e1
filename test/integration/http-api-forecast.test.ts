import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { zoneDataVersion } from '../../src/domain/cron/time-zone.js';
import { ApiServer } from '../support/api-server.js';
import { BASE, buildReport } from '../support/builders.js';
import { uuidAt } from '../support/runs.js';

const MINUTE = 60_000;
const NIGHT = { from: '2026-01-05T01:00:00Z', to: '2026-01-05T03:00:00Z' };

describe('GET /api/forecast', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
    for (const [id, group, cron, url] of [
      ['bill', 'money', '0 2 * * *', 'http://orders:8080/bill'],
      ['report', 'money', '0 2 * * *', 'http://reports/run'],
      ['sync', 'shop', '0 2 * * 1', 'http://orders:8080/sync'],
      ['off', 'shop', '0 2 * * *', 'http://orders:8080/off'],
    ]) {
      const task = { schedule_type: 'cron', cron_expr: cron, executor: { type: 'http', url } };
      const { status, text } = await api.call('POST', '/api/tasks', {
        id,
        name: id,
        group,
        ...task,
        enabled: id !== 'off',
      });
      expect(status, text).toBe(201);
    }
    await api.executions.apply(
      [500, 600, 150_000].map((duration, i) =>
        buildReport({
          executionId: uuidAt(BASE - 86_400_000, i),
          taskId: 'bill',
          status: 'success',
          startedAt: BASE - 86_400_000,
          finishedAt: BASE - 86_400_000 + duration,
        }),
      ),
    );
  });
  afterAll(async () => {
    expect(api.logger.lines).toEqual([]);
    await api.close();
  });
  const ask = (query: Record<string, string>) =>
    api.call('GET', `/api/forecast?${new URLSearchParams(query).toString()}`);

  it('answers the load by minute, group and target, and how to mend the worst minute', async () => {
    const { status, json } = await ask(NIGHT);
    expect(status).toBe(200);
    const at = (minutes: number) => new Date(BASE + minutes * MINUTE).toISOString();
    const point = (minutes: number, starts: number, running: number) => ({
      at: at(minutes),
      starts,
      running,
    });
    const assumed = { p95_sec: 30, is_assumed: true };
    expect(json).toEqual({
      from: at(60),
      to: at(180),
      step_sec: 60,
      zone_data: zoneDataVersion(),
      tasks: 3,
      tasks_without_history: 2,
      tasks_unreadable: 0,
      starts: 3,
      peak: point(120, 3, 3),
      series: [point(120, 3, 3), point(121, 0, 1), point(122, 0, 1)],
      groups: [
        {
          group: 'money',
          tasks: 2,
          starts: 2,
          peak: point(120, 2, 2),
          series: [point(120, 2, 2), point(121, 0, 1), point(122, 0, 1)],
        },
        { group: 'shop', tasks: 1, starts: 1, peak: point(120, 1, 1), series: [point(120, 1, 1)] },
      ],
      targets: [
        {
          target: 'http:orders:8080',
          tasks: 2,
          starts: 2,
          peak: point(120, 2, 2),
          series: [point(120, 2, 2), point(121, 0, 1), point(122, 0, 1)],
        },
        { target: 'http:reports', tasks: 1, starts: 1, peak: point(120, 1, 1), series: [point(120, 1, 1)] },
      ],
      collisions: [
        {
          at: at(120),
          times: 1,
          starts: 3,
          running: 3,
          task_count: 3,
          tasks: [
            {
              id: 'bill',
              name: 'bill',
              group: 'money',
              target: 'http:orders:8080',
              p95_sec: 150,
              is_assumed: false,
            },
            { id: 'report', name: 'report', group: 'money', target: 'http:reports', ...assumed },
            { id: 'sync', name: 'sync', group: 'shop', target: 'http:orders:8080', ...assumed },
          ],
          suggestions: [
            { task_id: 'report', set: { cron_expr: '1 2 * * *' }, moves_to: at(121), starts_there: 0 },
            { task_id: 'sync', set: { cron_expr: '2 2 * * 1' }, moves_to: at(122), starts_there: 0 },
          ],
        },
      ],
    });
  });

  it('takes one group by itself', async () => {
    const { json } = await ask({ ...NIGHT, group: 'shop' });
    expect(json).toMatchObject({ tasks: 1, starts: 1, collisions: [], groups: [{ group: 'shop' }] });
    expect((await ask({ ...NIGHT, group: 'nobody' })).json).toMatchObject({
      tasks: 0,
      peak: null,
      series: [],
    });
  });

  it('looks a day ahead by itself, and takes minutes of long ranges together', async () => {
    expect((await ask({})).json).toMatchObject({
      from: '2026-01-05T00:00:00.000Z',
      to: '2026-01-06T00:00:00.000Z',
      step_sec: 60,
    });
    const week = await ask({ from: String(BASE), to: '2026-01-12T08:00:00+08:00' });
    expect(week.json).toMatchObject({ step_sec: 600, starts: 15, collisions: [{ times: 1 }, { times: 6 }] });
    const month = await ask({ from: String(BASE), to: String(BASE + 31 * 1440 * MINUTE) });
    expect(month.json).toMatchObject({ step_sec: 1800, starts: 67 });
  });

  it.each([
    ['from=tomorrow', 'from', 'is not an instant'],
    ['to=2026-01-05T00:00:00', 'to', 'has no offset from UTC'],
    [`from=${BASE + MINUTE}&to=${BASE}`, 'from', 'is not before to'],
    [`from=${BASE}&to=2026-03-05T00:00:00Z`, 'to', 'is more than 31 days after from'],
    ['group=', 'group', 'is empty, too long or given twice'],
    ['groups=a', 'groups', 'is not a known field'],
  ])('refuses %s and says why', async (query, field, problem) => {
    const { status, json } = await api.call('GET', `/api/forecast?${query}`);
    expect(status).toBe(400);
    expect(json['errors']).toMatchObject([{ field, problem }]);
  });

  it('needs the token', async () => {
    const answer = await api.call('GET', '/api/forecast', undefined, { authorization: 'Bearer no' });
    expect(answer.status).toBe(401);
  });
});
