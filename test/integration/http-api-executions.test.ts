import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExecutionReport } from '../../src/domain/execution.js';
import { ApiServer } from '../support/api-server.js';
import { BASE, buildReport } from '../support/builders.js';
import { until } from '../support/until.js';

const task = {
  name: 'Sync orders',
  schedule_type: 'interval',
  interval: 3600,
  window_sec: 7,
  params: { from: 'task' },
  executor: { type: 'http', url: 'http://orders:8080/jobs/sync' },
};

describe('the API of executions', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
    for (const id of ['a', 'b', 'c'])
      await api.call('POST', '/api/tasks', { ...task, id, enabled: id !== 'b' });
  });
  afterAll(async () => {
    expect(api.logger.lines.filter(([level]) => level === 'error')).toEqual([]);
    await api.close();
  });

  const run = async (id: string, body?: unknown, headers?: Record<string, string>) =>
    api.call('POST', `/api/tasks/${id}/run`, body, headers);
  const publishedParams = (id: unknown) => api.published.find(({ event }) => event.id === id)?.task.params;

  it('runs a task by hand and says where to look', async () => {
    const { status, json, headers } = await run('a');
    expect(status).toBe(202);
    const id = String(json['execution_id']);
    expect(headers.get('location')).toBe(`/api/executions/${id}`);
    expect(json).toEqual({
      id,
      execution_id: id,
      task_id: 'a',
      kind: 'manual',
      status: 'pending',
      reason: null,
      schedule_at: BASE,
      window_start: BASE,
      window_end: BASE + 7000,
      fired_at: BASE,
      started_at: null,
      finished_at: null,
      retry_times: 0,
      attempt: 0,
      error_msg: null,
      worker: null,
      node: 'coordinator-1',
      misfire: false,
      range_end: null,
      generation: 0,
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      evidence: {},
    });
    expect(publishedParams(id)).toEqual({ from: 'task' });
    const shown = (await api.call('GET', `/api/executions/${id}`)).json;
    const { execution_id, ...listed } = json;
    expect(shown).toMatchObject({
      ...listed,
      id: execution_id,
      attempts: [],
      ledger: [{ kind: 'triggered', at: BASE }],
    });
  });

  it.each([
    [{ params: { from: 'caller' } }, { from: 'caller' }],
    [{ params: [1, null] }, [1, null]],
    [{ params: false }, false],
    [{ params: null }, { from: 'task' }],
    [{}, { from: 'task' }],
  ])('runs a disabled task with the body %j', async (body, params) => {
    const { status, json } = await run('b', body);
    expect(status).toBe(202);
    expect(publishedParams(json['id'])).toEqual(params);
  });

  it('goes on with the trace of the caller', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const { json } = await run('b', {}, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
    expect(json['trace_id']).toBe(traceId);
    const other = await run('b', {}, { traceparent: 'nonsense' });
    expect(other.json['trace_id']).toMatch(/^[0-9a-f]{32}$/);
  });

  it('runs once however often the same Idempotency-Key comes', async () => {
    const key = { 'idempotency-key': 'order 4711/a' };
    const answers = await Promise.all(Array.from({ length: 5 }, async () => run('c', { params: 1 }, key)));
    const ids = new Set(answers.map(({ json }) => json['execution_id']));
    expect(ids.size).toBe(1);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 202]);
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(api.published.filter(({ event }) => ids.has(event.id))).toHaveLength(1);

    const [id] = ids;
    await api.executions.apply([report(String(id), { seq: 1 })]);
    const later = await run('c', { params: 2 }, key);
    expect(later.json).toMatchObject({ id, execution_id: id, status: 'running', worker: 'worker-1' });
    expect((await run('a', {}, key)).json['execution_id']).not.toBe(id);
  });

  const report = (executionId: string, overrides: Partial<ExecutionReport>) =>
    buildReport({ executionId, taskId: 'c', startedAt: BASE + 20, ...overrides });
  const entry = (kind: ExecutionReport['entry']['kind'], at: number, detail: object = {}) => ({
    kind,
    at: BASE + at,
    node: 'worker-1',
    detail: { ...detail },
  });

  it('shows what became of a run: its attempts and every step', async () => {
    const id = String((await run('c')).json['id']);
    const failure = {
      attempt: 1,
      status: 'fail',
      reason: 'http_status',
      message: 'answered 503',
      started_at: BASE + 21,
      finished_at: BASE + 40,
      evidence: { http_status: 503 },
    };
    const success = {
      ...failure,
      attempt: 2,
      status: 'success',
      reason: null,
      message: null,
      started_at: BASE + 61,
      finished_at: BASE + 70,
      evidence: { http_status: 200 },
    };
    await api.executions.apply([
      report(id, { seq: 0, entry: entry('claimed', 20) }),
      report(id, { seq: 1, status: 'retrying', entry: entry('attempt_failed', 40, failure) }),
      report(id, { seq: 2, status: 'retrying', entry: entry('retry_planned', 40, { attempt: 2 }) }),
      report(id, { seq: 3, attempt: 2, entry: entry('attempt_started', 60, { attempt: 2 }) }),
      report(id, {
        seq: 4,
        status: 'success',
        attempt: 2,
        finishedAt: BASE + 70,
        evidence: { http_status: 200 },
        entry: entry('finished', 70, success),
      }),
    ]);
    const { json } = await api.call('GET', `/api/executions/${id}`);
    expect(json).toMatchObject({
      status: 'success',
      attempt: 2,
      retry_times: 1,
      started_at: BASE + 20,
      finished_at: BASE + 70,
      worker: 'worker-1',
      generation: 1,
      evidence: { http_status: 200 },
      attempts: [
        {
          attempt: 1,
          status: 'fail',
          reason: 'http_status',
          error_msg: 'answered 503',
          started_at: BASE + 21,
        },
        { attempt: 2, status: 'success', reason: null, error_msg: null, finished_at: BASE + 70 },
      ],
    });
    const ledger = json['ledger'] as readonly { readonly kind: string; readonly node: string }[];
    expect(ledger.map(({ kind }) => kind)).toEqual([
      'triggered',
      'claimed',
      'attempt_failed',
      'retry_planned',
      'attempt_started',
      'finished',
    ]);
  });

  it('lists the newest first, narrowed by task and status, by page and by cursor', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      api.clock.set(api.clock.now() + 1000);
      ids.unshift(String((await run('a')).json['id']));
    }
    await api.executions.apply([
      report(ids[1] ?? '', { taskId: 'a', status: 'fail', seq: 1, finishedAt: BASE + 99 }),
    ]);
    const list = async (query: string) => {
      const { json, text, status } = await api.call('GET', `/api/executions?task_id=a&${query}`);
      expect(status, text).toBe(200);
      const items = json['items'] as readonly { readonly id: string }[];
      return { ids: items.map(({ id }) => id), cursor: json['next_cursor'] as string | null };
    };
    expect((await list('page=1&page_size=3')).ids).toEqual(ids.slice(0, 3));
    expect((await list('page=2&page_size=2')).ids).toEqual(ids.slice(2, 4));
    expect(await list('status=fail')).toEqual({ ids: [ids[1]], cursor: null });
    const first = await list('page_size=4');
    const second = await list(`page_size=4&cursor=${first.cursor}`);
    expect([...first.ids, ...second.ids].slice(0, 5)).toEqual(ids);
    expect(new Set([...first.ids, ...second.ids]).size).toBe(first.ids.length + second.ids.length);
    expect(second.cursor).toBeNull();
    const { json } = await api.call('GET', `/api/executions?page_size=1`);
    expect((json['items'] as readonly object[])[0]).not.toHaveProperty('ledger');
  });

  it('cancels an execution, says what became of it, and only once', async () => {
    const { json: made } = await run('a');
    const path = `/api/executions/${String(made['id'])}/cancel`;
    api.isRunning = true;
    const asking = api.call('POST', path);
    await until('it waits', () => api.clock.pendingTimers > 0);
    await api.clock.advance(6000);
    expect(await asking).toMatchObject({
      status: 202,
      json: { result: 'requested', execution: { status: 'pending' } },
    });
    api.isRunning = false;
    expect(await api.call('POST', path, {})).toMatchObject({
      status: 200,
      json: { result: 'cancelled', execution: { id: made['id'], status: 'skipped', reason: 'cancelled' } },
    });
    expect(await api.call('POST', path)).toMatchObject({ status: 200, json: { result: 'already_ended' } });
    const audit = await api.audit.list({ subject: String(made['id']), limit: 5 });
    expect(audit.map(({ action }) => action)).toEqual(['execution.cancel', 'execution.cancel']);
    expect((await api.call('POST', '/api/executions/unknown/cancel')).status).toBe(404);
    expect((await api.call('POST', path, { why: 'x' })).status).toBe(400);
  });

  it('keeps the executions of a deleted task', async () => {
    await api.call('POST', '/api/tasks', { ...task, id: 'short-lived' });
    const { json } = await run('short-lived');
    await api.call('DELETE', '/api/tasks/short-lived');
    expect((await api.call('GET', `/api/executions/${String(json['id'])}`)).status).toBe(200);
    expect((await run('short-lived')).status).toBe(404);
  });
});
