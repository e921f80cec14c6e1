import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';

const hourly = {
  name: 'Sync orders',
  schedule_type: 'cron',
  cron_expr: '0 * * * *',
  executor: { type: 'http', url: 'http://orders:8080/jobs/sync' },
};

describe('the API keeps an edit from undoing another', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
  });
  afterAll(async () => {
    expect(api.logger.lines).toEqual([]);
    await api.close();
  });

  const create = async (id: string) => api.call('POST', '/api/tasks', { id, ...hourly });
  const read = async (id: string) => (await api.call('GET', `/api/tasks/${id}`)).json;

  it('lets one of two writers win who read the same version', async () => {
    await create('race');
    const put = (name: string) =>
      api.call('PUT', '/api/tasks/race', { ...hourly, name }, { 'if-match': '"1"' });
    const answers = await Promise.all([put('a'), put('b'), put('c')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
    const winner = answers.find(({ status }) => status === 200);
    expect(await read('race')).toEqual(winner?.json);
    expect(winner?.json['version']).toBe(2);
  });

  it.each([
    ['"7"', undefined, 412, 'If-Match'],
    [undefined, 7, 409, 'version'],
  ])(
    'keeps the task if If-Match is %s and the version in the body %s',
    async (ifMatch, version, status, field) => {
      const id = `conflict-${status}`;
      const { json: before } = await create(id);
      const answer = await api.call(
        'PUT',
        `/api/tasks/${id}`,
        { ...before, name: 'x', version },
        ifMatch ? { 'if-match': ifMatch } : {},
      );
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({ code: 'version_conflict', errors: [{ field }] });
      for (const [method, path] of [
        ['DELETE', ''],
        ['POST', '/toggle'],
      ] as const) {
        const refused = await api.call(method, `/api/tasks/${id}${path}`, undefined, { 'if-match': '"9"' });
        expect([method, refused.status]).toEqual([method, 412]);
      }
      expect(await read(id)).toEqual(before);
    },
  );

  it.each(['*', '"1"', '1', 'W/"1"'])(
    'takes If-Match %s, whatever version the body names',
    async (ifMatch) => {
      const id = `match-${ifMatch.replace(/\W/g, (c) => String(c.charCodeAt(0)))}`;
      const { json } = await create(id);
      const answer = await api.call(
        'PUT',
        `/api/tasks/${id}`,
        { ...json, version: 99 },
        { 'if-match': ifMatch },
      );
      expect(answer.status).toBe(200);
    },
  );
});
