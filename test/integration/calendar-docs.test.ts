import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';
import { docExamples } from '../support/doc-examples.js';

const FILE = readFileSync(new URL('../fixtures/us-holidays.ics', import.meta.url), 'utf8');

describe('docs/calendars.md', () => {
  let api: ApiServer;
  beforeAll(async () => {
    api = await ApiServer.start();
  });
  afterAll(() => api.close());

  const examples = docExamples('calendars.md');

  it('has examples', () => {
    expect(examples.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
      '/api/calendars',
      '/api/schedules/preview',
      '/api/calendars/china/import',
      '/api/schedules/preview',
      '/api/tasks',
      '/api/calendars/bavaria/import',
      '/api/calendars',
      '/api/calendars/acme/import',
      '/api/calendars/bavaria/import',
    ]);
  });

  it.each(examples)('does what line $line says: $path', async ({ method, path, headers, data, file }) => {
    const body = file === null ? (data ?? undefined) : FILE;
    expect(headers['Authorization']).toBe('Bearer $TOKEN');
    const answer = await api.call(method, path, body, {
      'content-type': headers['Content-Type'] ?? '',
    });
    expect([answer.status, answer.text]).toEqual([
      expect.toSatisfy((s: number) => s < 300),
      expect.any(String),
    ]);
    if (data?.includes('"china", "from"') !== true) return;
    const fires = answer.json['fires'] as readonly { readonly local: string }[];
    expect(fires.map(({ local }) => local.slice(0, 10))).toEqual(['2026-02-12', '2026-02-13', '2026-02-14']);
  });
});
