import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';

interface ListJson {
  readonly items: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

describe('the API of lists of tasks', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
    for (const [i, id] of [...ids, 'other'].entries()) {
      const { status, text } = await api.call('POST', '/api/tasks', {
        id,
        name: `Nightly ${i}`,
        group: id === 'other' ? 'default' : 'listed',
        owner: i < 2 ? 'ann' : 'Bob & Söhne',
        enabled: i !== 4,
        labels: { tier: `t:${i % 2}` },
        schedule_type: 'interval',
        interval: 60,
        executor: { type: 'http', url: 'http://orders:8080/jobs/sync' },
      });
      expect(status, text).toBe(201);
    }
  });
  afterAll(async () => {
    expect(api.logger.lines).toEqual([]);
    await api.close();
  });

  const list = async (query: string) => {
    const { json, status, text } = await api.call('GET', `/api/tasks?${query}`);
    expect(status, text).toBe(200);
    const { items, next_cursor: cursor } = json as unknown as ListJson;
    return { ids: items.map(({ id }) => id), cursor };
  };

  it('pages by number', async () => {
    expect(await list('group=listed')).toEqual({ ids, cursor: null });
    expect((await list('group=listed&page=2&page_size=2')).ids).toEqual(['c', 'd']);
    expect(await list('group=listed&page=3&page_size=2')).toEqual({ ids: ['e'], cursor: null });
    expect(await list('group=listed&page=50&page_size=200')).toEqual({ ids: [], cursor: null });
  });

  it('pages by cursor, each task once', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(`group=listed&page_size=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.ids);
      cursor = page.cursor;
    }
    expect(seen).toEqual(ids);
  });

  it.each([
    ['owner=ann', ['a', 'b']],
    [`owner=${encodeURIComponent('Bob & Söhne')}&enabled=true&group=listed`, ['c', 'd']],
    ['enabled=false', ['e']],
    ['label=tier:t:1&group=listed', ['b', 'd']],
    ['label=tier:', []],
    ['text=NIGHTLY%203', ['d']],
    ['text=OTHE', ['other']],
    ['text=%25', []],
    ['group=nothing', []],
  ])('takes %s', async (query, expected) => {
    expect((await list(query)).ids).toEqual(expected);
  });
});
