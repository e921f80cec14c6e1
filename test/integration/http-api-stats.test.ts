import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { type Status } from '../../src/domain/execution.js';
import { ApiServer } from '../support/api-server.js';
import { BASE, buildEvent, buildReport } from '../support/builders.js';
import { recordEvents, uuidAt } from '../support/runs.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
const RUNS = 120;

describe('GET /api/tasks/{id}/stats', () => {
  let api: ApiServer;
  /** Of the runs of the last day, in ms. */
  const durations: number[] = [];
  beforeAll(async () => {
    api = await ApiServer.start();
    const task = { schedule_type: 'interval', interval: 60, executor: { type: 'http', url: 'http://a/b' } };
    for (const id of ['busy', 'idle'])
      expect((await api.call('POST', '/api/tasks', { id, name: id, ...task })).status).toBe(201);
    for (let i = 1; i <= RUNS; i++)
      await run(BASE - i * MINUTE, i % 40 === 0 ? 'fail' : 'success', (i * 37) % 101);
    await run(BASE - DAY - 13, 'timeout', 9999);
    await run(BASE - 130 * MINUTE, 'skipped', null);
  });
  afterAll(async () => {
    expect(api.logger.lines).toEqual([]);
    await api.close();
  });

  async function run(slot: number, status: Status, duration: number | null): Promise<void> {
    const { db } = api.store;
    const firedAt = slot + 12;
    const event = buildEvent({ id: uuidAt(firedAt), taskId: 'busy', slot, firedAt });
    await recordEvents({ tasks: new SqlTaskRepo(db), triggers: new SqlTriggerRepo(db) }, [event]);
    const startedAt = duration === null ? null : event.firedAt + 8;
    const finishedAt = (startedAt ?? event.firedAt) + (duration ?? 0);
    const reason = status === 'fail' ? 'http_status' : status === 'skipped' ? 'overlap' : null;
    const end = { status, reason, startedAt, finishedAt } as const;
    await api.executions.apply([buildReport({ executionId: event.id, taskId: 'busy', ...end })]);
    if (duration !== null && firedAt >= BASE - DAY) durations.push(duration);
  }
  const ask = (query = '', id = 'busy') => api.call('GET', `/api/tasks/${id}/stats${query}`);

  it('answers the last day by itself, exactly as the raw numbers say', async () => {
    const sorted = durations.toSorted((a, b) => a - b);
    const rank = (percent: number) => sorted[Math.ceil((RUNS * percent) / 100) - 1];
    const spread = (count: number, ms: number) => ({ count, p50_ms: ms, p95_ms: ms, p99_ms: ms, max_ms: ms });
    expect((await ask()).json).toEqual({
      task_id: 'busy',
      from: new Date(BASE - DAY).toISOString(),
      to: new Date(BASE).toISOString(),
      total: RUNS + 1,
      statuses: { pending: 0, running: 0, retrying: 0, success: 117, fail: 3, timeout: 0, skipped: 1 },
      reasons: [
        { status: 'fail', reason: 'http_status', count: 3 },
        { status: 'skipped', reason: 'overlap', count: 1 },
      ],
      success_rate: 117 / 120,
      duration: { count: RUNS, p50_ms: rank(50), p95_ms: rank(95), p99_ms: rank(99), max_ms: rank(100) },
      lateness: spread(RUNS, 12),
      queueing: spread(RUNS, 8),
    });
  });

  it('takes a range whose end is not in it', async () => {
    const range = `?from=${BASE - 3 * MINUTE}&to=${new Date(BASE - MINUTE).toISOString()}`;
    expect((await ask(range)).json).toMatchObject({ total: 2, duration: { count: 2 } });
    const none = { count: 0, p50_ms: null, p95_ms: null, p99_ms: null, max_ms: null };
    expect((await ask('', 'idle')).json).toMatchObject({ total: 0, success_rate: null, duration: none });
  });

  it('answers for a deleted task as long as it has executions, and knows none that never was', async () => {
    expect((await ask('', 'nobody')).status).toBe(404);
    await api.call('DELETE', '/api/tasks/busy');
    expect((await ask()).json).toMatchObject({ total: RUNS + 1 });
    expect((await ask(`?from=${BASE}&to=${BASE + 1}`)).status).toBe(404);
  });

  it.each([
    ['from=tomorrow', 'from', 'is not an instant'],
    ['to=2026-01-05T00:00:00', 'to', 'has no offset from UTC'],
    [`from=${BASE}&to=${BASE}`, 'from', 'is not before to'],
    [`from=${BASE - 32 * DAY}&to=${BASE}`, 'from', 'is more than 31 days before to'],
    ['since=0', 'since', 'is not a known field'],
  ])('refuses %s and says why', async (query, field, problem) => {
    const { status, json } = await ask(`?${query}`, 'idle');
    expect(status).toBe(400);
    expect(json['errors']).toMatchObject([{ field, problem }]);
  });
});
