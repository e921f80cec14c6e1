import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE } from '../support/builders.js';
import { ApiServer } from '../support/api-server.js';

const MINUTE = 60_000;

describe('GET /api/verify', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
    const task = {
      schedule_type: 'interval',
      interval: 60,
      executor: { type: 'http', url: 'http://a.test/run' },
    };
    const { status, text } = await api.call('POST', '/api/tasks', {
      id: 'minutely',
      name: 'Minutely',
      ...task,
    });
    expect(status, text).toBe(201);
    api.clock.set(BASE + 10 * MINUTE);
  });
  afterAll(async () => {
    expect(api.logger.lines).toEqual([]);
    await api.close();
  });

  it('answers what was checked and what breaks a rule', async () => {
    const { status, json } = await api.call('GET', `/api/verify?from=${BASE}&to=2026-01-05T08:02:30%2B08:00`);
    expect(status).toBe(200);
    const detail = 'not decided yet, next_trigger_time stands at 2026-01-05T00:01:00.000Z';
    const missing = { rule: 'missing', task_id: 'minutely', execution_id: null, detail };
    expect(json).toEqual({
      from: BASE,
      to: BASE + 150_000,
      checked: { tasks: 1, slots: 2, events: 0 },
      counts: {
        missing: 2,
        duplicate: 0,
        outside_window: 0,
        unexpected: 0,
        double_run: 0,
        overdue_pending: 0,
        overdue_running: 0,
        unknown: 0,
      },
      violations: [
        { ...missing, slot: BASE + MINUTE },
        { ...missing, slot: BASE + 2 * MINUTE },
      ],
      unknown: [],
      is_truncated: false,
    });
  });

  it('looks back a day by itself, and takes a plus sign that was not escaped', async () => {
    const all = await api.call('GET', '/api/verify');
    expect(all.json).toMatchObject({ from: BASE + 9 * MINUTE - 24 * 60 * MINUTE, to: BASE + 9 * MINUTE });
    const range = await api.call('GET', '/api/verify?from=2026-01-05T08:00:00+08:00');
    expect(range.json).toMatchObject({ from: BASE });
  });

  it.each([
    ['from=yesterday', 'from', 'is not an instant'],
    ['to=2026-01-05T00:00:00', 'to', 'has no offset from UTC'],
    ['from=1&from=2', 'from', 'is not an instant'],
    [`from=${BASE + MINUTE}&to=${BASE}`, 'from', 'is after to'],
    [
      `from=${BASE + 10 * MINUTE}`,
      'from',
      'leaves nothing to judge: slots are judged a minute after their time',
    ],
    ['from=0', 'from', 'is more than 31 days before to'],
    ['until=0', 'until', 'is not a known field'],
  ])('refuses %s and says why', async (query, field, problem) => {
    const { status, json } = await api.call('GET', `/api/verify?${query}`);
    expect(status).toBe(400);
    expect(json['errors']).toMatchObject([{ field, problem }]);
  });

  it('refuses more slots than a request may look at', async () => {
    api.clock.set(BASE + 20 * 24 * 60 * MINUTE);
    const { status, json } = await api.call('GET', `/api/verify?from=${BASE}`);
    expect(status).toBe(400);
    expect(json['errors']).toMatchObject([
      { field: 'from', fix: expect.stringContaining('shorter range') as string },
    ]);
  });

  it('needs the token', async () => {
    expect((await api.call('GET', '/api/verify', undefined, { authorization: 'Bearer no' })).status).toBe(
      401,
    );
  });
});
