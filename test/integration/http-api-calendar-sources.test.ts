import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServer } from '../support/api-server.js';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}.ics`, import.meta.url), 'utf8');

interface CalendarJson {
  readonly name: string;
  readonly weekend: readonly number[];
  readonly holidays: readonly { readonly date: string; readonly name: string | null }[];
  readonly workdays: readonly { readonly date: string; readonly name: string | null }[];
  readonly known_until: string | null;
  readonly filled_from: readonly string[];
  readonly version: number;
}

let api: ApiServer;
beforeAll(async () => {
  api = await ApiServer.start();
});
afterAll(() => api.close());

const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const { status, json } = await api.call(method, path, body, headers);
  const [error] = (json['errors'] ?? []) as readonly { field: string; problem: string; fix: string }[];
  return { status, calendar: json as unknown as CalendarJson, error };
};
const importFile = (path: string, file: string, headers: Record<string, string> = {}) =>
  call('POST', path, file, { 'content-type': 'text/calendar; charset=utf-8', ...headers });
const dates = (days: readonly { readonly date: string }[]) => days.map(({ date }) => date);

/** Every fire time of a schedule in a year, by its preview. */
async function firesIn(year: number, schedule: object): Promise<string[]> {
  const all: string[] = [];
  for (let from = `${year - 1}-12-31T23:59:59+08:00`; ;) {
    const { json } = await api.call('POST', '/api/schedules/preview', { ...schedule, from, n: 100 });
    const fires = json['fires'] as readonly { readonly at: string; readonly local: string }[];
    const inYear = fires.filter(({ local }) => local.startsWith(`${year}-`));
    all.push(...inYear.map(({ local }) => local));
    const last = fires.at(-1);
    if (last === undefined || inYear.length < fires.length) return all;
    from = last.at;
  }
}

describe('every working day at 09:00 in China', () => {
  // As the State Council announced the year 2026.
  const DAYS_OFF = [
    ...['01-01', '01-02', '01-03'],
    ...['02-15', '02-16', '02-17', '02-18', '02-19', '02-20', '02-21', '02-22', '02-23'],
    ...['04-04', '04-05', '04-06'],
    ...['05-01', '05-02', '05-03', '05-04', '05-05'],
    ...['06-19', '06-20', '06-21'],
    ...['09-25', '09-26', '09-27'],
    ...['10-01', '10-02', '10-03', '10-04', '10-05', '10-06', '10-07'],
  ];
  const MAKE_UP_DAYS = ['01-04', '02-14', '02-28', '05-09', '09-20', '10-10'];

  it('is every Monday to Friday that is no day off, and every make-up day', async () => {
    const { status } = await call('POST', '/api/calendars/china/import', { type: 'china', years: [2026] });
    expect(status).toBe(201);
    const expected: string[] = [];
    for (let day = Date.UTC(2026, 0, 1); day < Date.UTC(2027, 0, 1); day += 86_400_000) {
      const date = new Date(day).toISOString().slice(5, 10);
      const isWeekday = ![0, 6].includes(new Date(day).getUTCDay());
      if ((isWeekday && !DAYS_OFF.includes(date)) || MAKE_UP_DAYS.includes(date))
        expected.push(`2026-${date}`);
    }
    const schedule = {
      cron_expr: '0 9 * * *',
      timezone: 'Asia/Shanghai',
      calendar: 'china',
      calendar_rule: 'workdays',
    };
    const fires = await firesIn(2026, schedule);
    expect(fires.map((local) => local.slice(0, 10))).toEqual(expected);
    expect(new Set(fires.map((local) => local.slice(10)))).toEqual(new Set(['T09:00:00.000+08:00']));
    expect(fires).toHaveLength(248);
  });
});

describe('a calendar with a source', () => {
  it('has its days beside those that it lists itself, which stand above them', async () => {
    const { status, calendar } = await call('POST', '/api/calendars', {
      name: 'works-on-may-day',
      weekend: ['friday', 'saturday'],
      holidays: [{ date: '2026-06-30', name: 'stock-taking' }],
      workdays: ['2026-05-01'],
      source: { type: 'country', country: 'DE', years: [2026], language: 'en' },
    });
    expect(status).toBe(201);
    expect(calendar.weekend).toEqual([5, 6]);
    expect(dates(calendar.holidays)).toEqual(expect.arrayContaining(['2026-01-01', '2026-06-30']));
    expect(dates(calendar.holidays)).not.toContain('2026-05-01');
    expect(calendar.holidays[0]).toEqual({ date: '2026-01-01', name: "New Year's Day" });
    expect(dates(calendar.workdays)).toEqual(['2026-05-01']);
    expect(calendar.known_until).toBe('2026-12-31');
    expect(calendar.filled_from).toEqual([expect.stringMatching(/^country DE 2026 \(date-holidays \d/)]);
  });

  it('keeps where its days came from when it is sent back as it was read', async () => {
    const source = { type: 'china', years: [2026] };
    await call('POST', '/api/calendars', { name: 'round', source });
    const { calendar } = await call('GET', '/api/calendars/round');
    const { status, calendar: again } = await call('PUT', '/api/calendars/round', calendar);
    expect(status).toBe(200);
    expect(again).toEqual({ ...calendar, version: 2 });
  });

  it('is filled by PUT, too, also from the text of a file', async () => {
    await call('POST', '/api/calendars', { name: 'by-text' });
    const source = { type: 'ics', text: fixture('us-holidays'), ignore_words: ['observance'] };
    const { status, calendar } = await call('PUT', '/api/calendars/by-text', { source });
    expect(status).toBe(200);
    expect(dates(calendar.holidays)).toContain('2026-07-03');
    expect(dates(calendar.holidays)).not.toContain('2026-02-14');
    expect(calendar.filled_from).toEqual([expect.stringMatching(/^iCalendar file [0-9a-f]{12}$/)]);
  });

  it.each([
    [{ type: 'chinna', years: [2026] }, 'source.type'],
    [{ type: 'china' }, 'source.years'],
    [{ type: 'china', years: [] }, 'source.years'],
    [{ type: 'china', years: ['2026'] }, 'source.years'],
    [{ type: 'china', years: [1990] }, 'source.years'],
    [{ type: 'country', country: 'DE', state: 'XY', years: [2026] }, 'source.state'],
    [{ type: 'country', country: 'DE', types: ['free'], years: [2026] }, 'source.types.0'],
    [{ type: 'ics', text: 'junk' }, 'source.text'],
    [{ type: 'ics' }, 'source.text'],
    [{ type: 'ics', text: fixture('us-holidays'), workday_words: [''] }, 'source.workday_words'],
  ])('is refused with %j', async (source, field) => {
    const { status, error } = await call('POST', '/api/calendars', { name: 'refused', source });
    expect([status, error?.field]).toEqual([400, field]);
    expect(error?.fix).not.toBe('');
    expect((await call('GET', '/api/calendars/refused')).status).toBe(404);
  });
});

describe('an import', () => {
  it('makes a calendar of a file, and adds the days of the next one', async () => {
    const made = await importFile('/api/calendars/acme/import?years=2026', fixture('us-holidays'));
    expect([made.status, made.calendar.version]).toEqual([201, 1]);
    expect(dates(made.calendar.holidays)).toHaveLength(5);
    const grown = await importFile('/api/calendars/acme/import', fixture('china-phone-2026'));
    expect([grown.status, grown.calendar.version]).toEqual([200, 2]);
    expect(dates(grown.calendar.holidays)).toEqual(expect.arrayContaining(['2026-07-03', '2026-10-01']));
    expect(dates(grown.calendar.workdays)).toEqual(['2026-09-20', '2026-10-10']);
    expect(grown.calendar.filled_from).toHaveLength(2);
  });

  it('takes the words of the query', async () => {
    const path = '/api/calendars/words/import?workday_words=&ignore_words=workday,%E6%94%BE%E5%81%87';
    const { calendar } = await importFile(path, fixture('china-notice-2026'));
    expect(dates(calendar.holidays)).toEqual(['2026-02-14', '2026-02-28', '2026-06-05']);
    expect(calendar.workdays).toEqual([]);
  });

  it('extends what is known by the year after, and not over a year of which nothing is known', async () => {
    const years = async (...list: readonly number[]) =>
      (await call('POST', '/api/calendars/fr/import', { type: 'country', country: 'FR', years: list }))
        .calendar;
    expect((await years(2026)).known_until).toBe('2026-12-31');
    expect((await years(2027)).known_until).toBe('2027-12-31');
    expect((await years(2029)).known_until).toBe('2027-12-31');
    expect((await years(2028, 2029)).known_until).toBe('2029-12-31');
    expect((await years(2025)).known_until).toBe('2029-12-31');
  });

  it('goes by If-Match', async () => {
    await call('POST', '/api/calendars', { name: 'matched' });
    const stale = await importFile('/api/calendars/matched/import', fixture('us-holidays'), {
      'if-match': '"2"',
    });
    expect(stale.status).toBe(412);
    const good = await importFile('/api/calendars/matched/import', fixture('us-holidays'), {
      'if-match': '"1"',
    });
    expect([good.status, good.calendar.version]).toEqual([200, 2]);
    const none = await importFile('/api/calendars/nobody/import', fixture('us-holidays'), {
      'if-match': '"1"',
    });
    expect(none.status).toBe(404);
  });

  it('refuses a file with the number of the line, another type of body, another charset, and a query beside JSON', async () => {
    const path = '/api/calendars/bad/import';
    const junk = await importFile(path, `${fixture('us-holidays')}junk`);
    expect([junk.status, junk.error?.field]).toEqual([400, 'body']);
    expect(junk.error?.problem).toMatch(/^line 69: "junk"/);
    const plain = await call('POST', path, 'x', { 'content-type': 'text/plain' });
    expect([plain.status, plain.error?.fix]).toEqual([415, expect.stringContaining('text/calendar')]);
    const latin = await call('POST', path, 'x', { 'content-type': 'text/calendar; charset=gbk' });
    expect(latin.status).toBe(415);
    const query = await call('POST', `${path}?years=2026`, { type: 'china', years: [2026] });
    expect([query.status, query.error?.field]).toEqual([400, 'years']);
    const unknown = await importFile(`${path}?year=2026`, fixture('us-holidays'));
    expect([unknown.status, unknown.error?.field]).toEqual([400, 'year']);
    const name = await importFile('/api/calendars/-/import', fixture('us-holidays'));
    expect([name.status, name.error?.field]).toEqual([400, 'name']);
    const large = await importFile(path, 'x'.repeat(262_145));
    expect(large.status).toBe(413);
  });
});
