import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';

const http = { type: 'http', url: 'http://orders:8080/jobs/sync' };

describe('the API and the executor of a task', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
  });
  afterAll(() => api.close());

  const create = (executor: unknown) =>
    api.call('POST', '/api/tasks', { name: 'n', schedule_type: 'interval', interval: 3600, executor });

  it.each([
    [{ ...http, url: 'http://ann:secret@orders/' }, 'executor.url', 'carries credentials'],
    [{ ...http, url: 'http://ann@orders/' }, 'executor.url', 'carries credentials'],
    [{ ...http, url: 'ftp://orders/' }, 'executor.url', 'is not supported'],
    [{ ...http, url: '/jobs' }, 'executor.url', 'not an absolute URL'],
    [{ type: 'http' }, 'executor.url', 'is missing'],
    [{ ...http, headers: { 'X-A': 'a\r\nX-Evil: 1' } }, 'executor.headers.X-A', 'line break'],
    [{ ...http, headers: { 'X-A\n': 'a' } }, 'executor.headers.X-A\n', 'not a header name'],
    [{ ...http, headers: { 'X-Ax-Receipt-Token': 'a' } }, 'executor.headers.X-Ax-Receipt-Token', 'set by ax'],
    [{ ...http, headers: { 'X-Ax-Signature': 'a' } }, 'executor.headers.X-Ax-Signature', 'set by ax'],
    [{ ...http, headers: { Host: 'b' } }, 'executor.headers.Host', 'set by ax'],
    [{ ...http, headers: { 'X-A': 7 } }, 'executor.headers.X-A', 'is a number'],
    [{ ...http, method: 'TRACE' }, 'executor.method', 'not possible'],
    [{ ...http, ack: 'delivered' }, 'executor.ack', 'not possible'],
    [{ ...http, signature: { secret: 'orders' } }, 'executor.signature.secret', 'not the name of a secret'],
    [
      { ...http, signature: { secret: 's3cr3t/+=' } },
      'executor.signature.secret',
      'not the name of a secret',
    ],
    [{ ...http, signature: {} }, 'executor.signature.secret', 'is missing'],
    [{ ...http, signature: { secret: 'A', key: 'v' } }, 'executor.signature.key', 'not a known field'],
    [{ ...http, signature: 'A' }, 'executor.signature', 'is a string'],
    [{ ...http, timeout: 5 }, 'executor.timeout', 'not a known field'],
  ])('refuses %j and names %s', async (executor, field, problem) => {
    const { status, json } = await create(executor);
    expect(status).toBe(400);
    const errors = json['errors'] as readonly { readonly field: string; readonly problem: string }[];
    expect(errors.map((error) => error.field)).toEqual([field]);
    expect(errors[0]?.problem).toContain(problem);
    expect((await api.call('GET', '/api/tasks')).json).toMatchObject({ items: [] });
  });

  it('reads an http executor back as it was given, with the name of its secret', async () => {
    const executor = {
      ...http,
      method: 'PUT',
      headers: { 'X-A': 'b' },
      ack: 'receipt',
      signature: { secret: 'A' },
    };
    const { json } = await create(executor);
    expect(json['executor']).toEqual(executor);
    const read = await api.call('GET', `/api/tasks/${String(json['id'])}`);
    expect(read.json['executor']).toEqual(executor);
  });
});
