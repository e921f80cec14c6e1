import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiAnswer, ApiServer } from '../support/api-server.js';

const executor = { type: 'http', url: 'http://orders:8080/jobs/sync' };
const good = { name: 'n', schedule_type: 'cron', cron_expr: '0 * * * *', executor };
const interval = { ...good, schedule_type: 'interval', cron_expr: undefined };
const once = { ...good, schedule_type: 'once', cron_expr: undefined };

/** Bad input: each a problem document that names the field and the fix, and nothing changed. */
describe('the API refuses', () => {
  let api: ApiServer;
  let before: ApiAnswer;
  const everything = () => api.call('GET', '/api/tasks?page_size=200');

  beforeAll(async () => {
    api = await ApiServer.start();
    await api.call('POST', '/api/tasks', { ...good, id: 'a' });
    before = await everything();
  });
  afterAll(async () => {
    expect(api.logger.lines).toEqual([]);
    await api.close();
  });

  const expectRefused = async (answer: ApiAnswer, status: number, ...fields: string[]) => {
    expect(answer.status, answer.text).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    const { type, title, detail, code, errors } = answer.json as Readonly<Record<string, string>> & {
      readonly errors: readonly { readonly field: string; readonly problem: string; readonly fix: string }[];
    };
    expect(answer.json['status']).toBe(status);
    expect(type).toBe(`urn:ax:problem:${code}`);
    for (const word of [title, detail]) expect(word).toMatch(/\w/);
    expect(errors.map(({ field }) => field)).toEqual(fields);
    for (const { problem, fix } of errors) expect([problem, fix]).not.toContain('');
    expect((await everything()).json).toEqual(before.json);
    return errors;
  };

  describe.each(['POST', 'PUT'])('by %s a task with', (method) => {
    const send = async (body: unknown, headers?: Record<string, string>) =>
      api.call(method, method === 'POST' ? '/api/tasks' : '/api/tasks/a', body, headers);

    it.each([
      ['an unknown field', { ...good, retrys: 3 }, 'retrys'],
      ['a field of a later version', { ...good, calendar: 'cn' }, 'calendar'],
      ['a wrong type', { ...good, timeout_sec: '30' }, 'timeout_sec'],
      ['a cron that never fires', { ...good, cron_expr: '0 0 30 2 *' }, 'cron_expr'],
      ['61 seconds', { ...good, cron_expr: '61 * * * * *' }, 'cron_expr'],
      ['too few cron fields', { ...good, cron_expr: '* *' }, 'cron_expr'],
      ['an interval of 0', { ...interval, interval: 0 }, 'interval'],
      ['a negative interval', { ...interval, interval: -60 }, 'interval'],
      ['a fractional interval', { ...interval, interval: 1.5 }, 'interval'],
      ['a timeout of 0', { ...good, timeout_sec: 0 }, 'timeout_sec'],
      ['retries of what is not idempotent', { ...good, retry_count: 2 }, 'retry_count'],
      [
        'its end before its start',
        { ...good, start_at: '2026-02-02T00:00:00Z', end_at: '2026-02-01T00:00:00Z' },
        'end_at',
      ],
      ['a run in the past', { ...once, run_at: '2026-01-04T23:59:59Z' }, 'run_at'],
      ['a run at no known offset', { ...once, run_at: '2026-03-01T09:00:00' }, 'run_at'],
      ['an unknown zone', { ...good, timezone: 'Mars/Phobos' }, 'timezone'],
      ['a misspelt zone', { ...good, timezone: 'America/New_Yrok' }, 'timezone'],
      ['an offset as zone', { ...good, timezone: 'UTC+8' }, 'timezone'],
      ['an empty zone', { ...good, timezone: '' }, 'timezone'],
      ['a blank after its zone', { ...good, timezone: 'Asia/Shanghai ' }, 'timezone'],
      ['an empty name', { ...good, name: ' ' }, 'name'],
      ['a strange pool', { ...good, pool: '../p' }, 'pool'],
      [
        'a file as target',
        { ...good, executor: { type: 'http', url: 'file:///etc/passwd' } },
        'executor.url',
      ],
      [
        'a header that ax sets',
        { ...good, executor: { ...executor, headers: { 'X-Ax-Task': 'b' } } },
        'executor.headers.X-Ax-Task',
      ],
      ['another executor', { ...good, executor: { type: 'ftp', url: 'x' } }, 'executor.type'],
      ['too large params', { ...good, params: 'x'.repeat(70_000) }, 'params'],
      ['a strange label', { ...good, labels: { 'a b': 'c' } }, 'labels.a b'],
    ])('%s', async (_what, body, field) => {
      await expectRefused(await send(body), 400, field);
    });

    it('several problems, and names them all', async () => {
      const body = { ...good, cron_expr: '61 * * * * *', timeout_sec: 0, name: '', retry_count: -1 };
      await expectRefused(await send(body), 400, 'name', 'timeout_sec', 'retry_count', 'cron_expr');
    });

    it('a body over 256 KiB', async () => {
      await expectRefused(await send({ ...good, name: 'x'.repeat(262_144) }), 413, 'body');
    });

    it('a body of exactly 256 KiB for its content only', async () => {
      const rest = JSON.stringify({ ...good, name: '' }).length;
      await expectRefused(await send({ ...good, name: 'x'.repeat(262_144 - rest) }), 400, 'name');
    });

    it('broken JSON', async () => {
      const [error] = await expectRefused(await send('{"name":\n"a",,}'), 400, 'body');
      expect(error?.problem).toContain('line 2');
    });

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'nonsense',
      ';',
      'application/json; charset=utf-16',
    ])('the Content-Type %s', async (contentType) => {
      await expectRefused(await send(good, { 'content-type': contentType }), 415, 'Content-Type');
    });

    it('a compressed body', async () => {
      await expectRefused(await send(good, { 'content-encoding': 'gzip' }), 415, 'body');
    });

    it('no body', async () => {
      await expectRefused(await send(undefined), 400, 'body');
    });

    it('names that would change more than the task', async () => {
      await expectRefused(await send('{"__proto__":{"enabled":false}}'), 400, '__proto__');
      await expectRefused(await send({ ...good, constructor: {} }), 400, 'constructor');
      expect(({} as Record<string, unknown>)['enabled']).toBeUndefined();
    });

    it('JSON that is nested without end', async () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      await expectRefused(await send(deep), 400, 'body');
      await expectRefused(
        await send(`${JSON.stringify(good).slice(0, -1)},"params":${deep}}`),
        400,
        'params',
      );
    });
  });

  it.each(['"2"', '"0"'])('If-Match %s of a task at version 1', async (ifMatch) => {
    const headers = { 'if-match': ifMatch };
    await expectRefused(
      await api.call('PUT', '/api/tasks/a', { ...good, name: 'x' }, headers),
      412,
      'If-Match',
    );
    await expectRefused(await api.call('DELETE', '/api/tasks/a', undefined, headers), 412, 'If-Match');
    await expectRefused(await api.call('POST', '/api/tasks/a/toggle', undefined, headers), 412, 'If-Match');
  });

  it.each(['latest', '"1', '"1", "2"'])('If-Match %s, which is no version', async (ifMatch) => {
    const headers = { 'if-match': ifMatch };
    await expectRefused(await api.call('PUT', '/api/tasks/a', good, headers), 400, 'If-Match');
    await expectRefused(await api.call('DELETE', '/api/tasks/a', undefined, headers), 400, 'If-Match');
  });

  it.each(['nothing', 'a%00', '%F0%9F%92%A9', 'a%20', "'%20OR%201=1", 'x'.repeat(65), '%252e', 'a%2Fb'])(
    'the unknown id %s',
    async (id) => {
      for (const [method, path, body] of [
        ['GET', ''],
        ['PUT', '', good],
        ['DELETE', ''],
        ['POST', '/toggle'],
        ['POST', '/run'],
        ['GET', '/next'],
      ] as const) {
        await expectRefused(await api.call(method, `/api/tasks/${id}${path}`, body), 404, 'id');
      }
      await expectRefused(await api.call('GET', `/api/executions/${id}`), 404, 'id');
    },
  );

  it.each(['%', '%E0%A4%A', '%ff'])('the id %s, which is no text', async (id) => {
    await expectRefused(await api.call('GET', `/api/tasks/${id}`), 400, 'request');
  });

  it.each([
    ['/api/tasks?page=0', 'page'],
    ['/api/tasks?page=x', 'page'],
    ['/api/tasks?page=201', 'page'],
    ['/api/tasks?page_size=201', 'page_size'],
    ['/api/tasks?page_size=', 'page_size'],
    ['/api/tasks?cursor=abc', 'cursor'],
    ['/api/tasks?page=1&cursor=WyJ0YXNrcyIsImEiXQ', 'page'],
    ['/api/executions?cursor=WyJ0YXNrcyIsImEiXQ', 'cursor'],
    ['/api/tasks?pagesize=3', 'pagesize'],
    ['/api/tasks?enabled=yes', 'enabled'],
    ['/api/tasks?label=tier', 'label'],
    ['/api/tasks?label=a%22b:c', 'label'],
    ['/api/tasks?group=a&group=b', 'group'],
    ['/api/tasks?text=', 'text'],
    ['/api/tasks?__proto__=1', '__proto__'],
    ['/api/executions?status=done', 'status'],
    ['/api/executions?task_id=a%20b', 'task_id'],
    ['/api/tasks/a/next?n=0', 'n'],
    ['/api/tasks/a/next?n=101', 'n'],
    ['/api/tasks/a?verbose=1', 'verbose'],
  ])('the query of %s', async (path, field) => {
    await expectRefused(await api.call('GET', path), 400, field);
  });

  it('bodies of the small routes that say something else', async () => {
    await expectRefused(await api.call('POST', '/api/tasks/a/toggle', { enable: true }), 400, 'enable');
    await expectRefused(await api.call('POST', '/api/tasks/a/toggle', { enabled: 'no' }), 400, 'enabled');
    await expectRefused(await api.call('POST', '/api/tasks/a/toggle', []), 400, 'body');
    await expectRefused(await api.call('POST', '/api/tasks/a/toggle', 'x'), 400, 'body');
    await expectRefused(await api.call('POST', '/api/tasks/a/run', { parms: {} }), 400, 'parms');
    await expectRefused(
      await api.call('POST', '/api/tasks/a/run', { params: 'x'.repeat(70_000) }),
      400,
      'params',
    );
    for (const key of ['x'.repeat(129), 'a\tb', '\u00e9']) {
      const headers = { 'idempotency-key': key };
      await expectRefused(await api.call('POST', '/api/tasks/a/run', {}, headers), 400, 'Idempotency-Key');
    }
    expect((await api.call('GET', '/api/executions')).json['items']).toEqual([]);
  });

  it('a body that is announced and never sent whole', async () => {
    const { hostname, port } = new URL(api.address);
    const headers = {
      authorization: `Bearer ${api.token}`,
      'content-type': 'application/json',
      'content-length': '1000',
    };
    await new Promise<void>((resolve) => {
      const half = request({ hostname, port, method: 'POST', path: '/api/tasks', headers });
      half.once('error', () => resolve());
      half.write('{"name":', () => half.destroy());
    });
    expect((await everything()).json).toEqual(before.json);
  });
});
