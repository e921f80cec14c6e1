import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';
import { buildWorker } from '../support/pools.js';

const http = { type: 'http', url: 'http://orders:8080/jobs/sync' };
const mq = { type: 'mq', exchange: 'jobs', routing_key: 'sync' };
const shell = { type: 'shell', command: 'true' };
const good = { name: 'n', schedule_type: 'cron', cron_expr: '0 * * * *', executor: http };
const long = (bytes: number) => 'ä'.repeat(bytes / 2);

/** What would reach a target as something else than was meant: each refused by name, with a fix, and nothing changed. */
describe.each(['POST', 'PUT'])('the API refuses by %s a task whose executor has', (method) => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
    await api.registry.announce(buildWorker({ executors: ['http', 'mq', 'shell'] }), 3_600_000);
    await api.call('POST', '/api/tasks', { ...good, id: 'a' });
  });
  afterAll(() => api.close());

  const send = (body: unknown) => api.call(method, method === 'POST' ? '/api/tasks' : '/api/tasks/a', body);
  const everything = async () => (await api.call('GET', '/api/tasks')).json;

  it.each([
    ['a header with a line break', { ...http, headers: { A: 'b\r\nX-Evil: 1' } }, 'executor.headers.A'],
    ['a header name with a line break', { ...http, headers: { 'A\nB': 'c' } }, 'executor.headers.A\nB'],
    ['a name in its URL', { ...http, url: 'http://ann@orders/' }, 'executor.url'],
    ['a name and a password in its URL', { ...http, url: 'http://ann:secret@orders/' }, 'executor.url'],
    ['a line break in its URL', { ...http, url: 'http://orders/\nx' }, 'executor.url'],
    ['a routing key of 256 bytes', { ...mq, routing_key: long(256) }, 'executor.routing_key'],
    ['an exchange of 256 bytes', { ...mq, exchange: long(256) }, 'executor.exchange'],
    ['a message header with a line break', { ...mq, headers: { a: 'b\nc' } }, 'executor.headers.a'],
    ['a blank in its container name', { ...shell, container: { name: 'a b' } }, 'executor.container.name'],
    ['an option as container name', { ...shell, container: { name: '--rm' } }, 'executor.container.name'],
    ['a command as container name', { ...shell, container: { name: 'a;id' } }, 'executor.container.name'],
    ['an option as image', { ...shell, container: { image: '--privileged' } }, 'executor.container.image'],
    ['a NUL in its command', { ...shell, command: 'a\0b' }, 'executor.command'],
    ['a variable that ax sets', { ...shell, env: { AX_PARAMS: 'x' } }, 'executor.env.AX_PARAMS'],
  ])('%s', async (_what, executor, field) => {
    const before = await everything();
    const { status, json } = await send({ ...good, executor });
    expect(status).toBe(400);
    const errors = json['errors'] as readonly { readonly field: string; readonly fix: string }[];
    expect(errors.map((error) => error.field)).toEqual([field]);
    for (const { fix } of errors) expect(fix).toMatch(/\w/);
    expect(await everything()).toEqual(before);
  });

  it('params over 64 KiB, its own or of one run', async () => {
    const params = 'x'.repeat(65_536 - 1);
    expect((await send({ ...good, params })).json['errors']).toMatchObject([{ field: 'params' }]);
    const run = await api.call('POST', '/api/tasks/a/run', { params });
    expect([run.status, run.json['errors']]).toMatchObject([400, [{ field: 'params' }]]);
  });

  it.each([
    ['a routing key of 254 bytes', { ...mq, routing_key: long(254) }],
    ['a container by name', { ...shell, container: { name: 'nightly_2.a-b' } }],
  ])('nothing worse than %s, which it takes', async (_what, executor) => {
    const { status, text } = await send({ ...good, executor });
    expect(status, text).toBeLessThan(300);
  });
});
