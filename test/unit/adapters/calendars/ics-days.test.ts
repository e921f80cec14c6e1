import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { icsDays } from '../../../../src/adapters/calendars/ics-days.js';
import { assertCalendar, type CalendarDay, MAX_CALENDAR_DAYS } from '../../../../src/domain/calendar.js';
import { type InvalidInput } from '../../../../src/domain/errors.js';
import { DEFAULT_WORKDAY_WORDS, type IcsSource } from '../../../../src/ports/calendar-source.js';

const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/${name}.ics`, import.meta.url), 'utf8');

const read = (text: string, options: Partial<IcsSource> = {}) =>
  icsDays(
    { type: 'ics', text, years: null, workdayWords: DEFAULT_WORKDAY_WORDS, ignoreWords: [], ...options },
    2026,
  );

/** All that does not tell one file from another. */
const readDays = (text: string) => ({ ...read(text), origin: '' });

const dates = (days: readonly CalendarDay[]) => days.map(({ date }) => date);
const event = (...lines: readonly string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\n');
const file = (...events: readonly string[]) => ['BEGIN:VCALENDAR', ...events, 'END:VCALENDAR'].join('\n');

/** The one problem of a refused file. */
function refusal(text: string, options: Partial<IcsSource> = {}): string {
  try {
    read(text, options);
  } catch (error) {
    const [{ field, problem, fix } = { field: '', problem: '', fix: '' }] = (error as InvalidInput).problems;
    return `${field}: ${problem}; ${fix}`;
  }
  return 'taken';
}

describe('a file of a web calendar', () => {
  const us = fixture('us-holidays');

  it('gives its days and their names, unfolded and unescaped', () => {
    const { holidays, workdays } = read(us);
    expect(dates(holidays)).toEqual([
      '2026-01-01',
      '2026-02-14',
      '2026-07-03',
      '2026-07-04',
      '2026-11-26',
      '2027-01-01',
    ]);
    expect(holidays[2]?.name).toBe('Independence Day (substitute; most offices are closed)');
    expect(workdays).toEqual([]);
  });

  it('is known until the end of its last year, and the first days of the next one do not make that', () => {
    expect(read(us).knownUntil).toBe('2026-12-31');
  });

  it('leaves out the events whose words the caller names', () => {
    expect(dates(read(us, { ignoreWords: ['observance'] }).holidays)).not.toContain('2026-02-14');
  });

  it('gives the days of asked years only, and is known no longer than these', () => {
    const { holidays, knownUntil } = read(us, { years: [2026] });
    expect(dates(holidays)).not.toContain('2027-01-01');
    expect(knownUntil).toBe('2026-12-31');
    expect(read(us, { years: [2026, 2027] }).knownUntil).toBe('2026-12-31');
  });

  it.each([
    ['CRLF', us.replaceAll('\n', '\r\n')],
    ['CR', us.replaceAll('\n', '\r')],
    ['a byte order mark', `\uFEFF${us}`],
    ['blank lines', us.replaceAll('\n', '\n\n')],
  ])('is the same with %s', (_what, text) => {
    expect(readDays(text.replaceAll(/[\r\n]+ /g, ''))).toEqual(readDays(us.replaceAll('\n ', '')));
  });

  it('is the same wherever its lines are folded', () => {
    const lines = us.replaceAll('\n ', '').trimEnd().split('\n');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 75 }), fc.constantFrom('\r\n ', '\n\t'), (width, fold) => {
        const folded = lines.map((line) => line.match(new RegExp(`.{1,${width}}`, 'gu'))?.join(fold) ?? line);
        expect(readDays(folded.join(fold.trim() === '' && fold.startsWith('\r') ? '\r\n' : '\n'))).toEqual(
          readDays(us),
        );
      }),
      { numRuns: 50 },
    );
  });
});

describe('a file of an office program', () => {
  const office = fixture('company-closures');

  it('gives midnights in a named zone as days, what returns yearly for five years, and its exceptions', () => {
    const { holidays, knownUntil } = read(office);
    const between = [2026, 2027, 2028, 2029, 2030].flatMap((year) =>
      [24, 25, 26, 27].map((day) => `${year}-12-${day}`),
    );
    // The last Mondays of May up to UNTIL, without EXDATE; the party moved, doubled by RDATE, and called off once.
    const spring = ['2026-05-25', '2028-05-29'];
    const party = ['2026-07-17', '2027-07-10', '2027-07-11', '2028-07-10', '2028-07-12', '2030-07-10'];
    expect(dates(holidays)).toEqual([...between, ...spring, ...party].sort());
    expect(knownUntil).toBe('2028-12-31');
  });

  it('gives what returns yearly for the asked years, also for days that began in the year before', () => {
    const newYear = file(
      event('DTSTART;VALUE=DATE:17761230', 'DTEND;VALUE=DATE:17770103', 'RRULE:FREQ=YEARLY', 'SUMMARY:Off'),
    );
    const { holidays, knownUntil } = read(newYear, { years: [2030] });
    expect(dates(holidays)).toEqual(['2030-01-01', '2030-01-02', '2030-12-30', '2030-12-31']);
    expect(knownUntil).toBe('2030-12-31');
  });
});

describe('how long a file is known', () => {
  it('goes by its series where each event belongs to one, also a moved one', () => {
    const moved = file(
      event('UID:1', 'DTSTART;VALUE=DATE:20200710', 'RRULE:FREQ=YEARLY'),
      event('UID:1', 'DTSTART;VALUE=DATE:20260717', 'RECURRENCE-ID;VALUE=DATE:20260710'),
    );
    expect(read(moved).knownUntil).toBe('2030-12-31');
  });

  it('ends with the last asked year, however long the file goes on', () => {
    const two = file(event('DTSTART;VALUE=DATE:20260501'), event('DTSTART;VALUE=DATE:20270501'));
    expect(read(two).knownUntil).toBe('2027-12-31');
    expect(read(two, { years: [2026] }).knownUntil).toBe('2026-12-31');
  });
});

describe('make-up days', () => {
  it("are those with Apple's mark, whatever the summary says", () => {
    const { holidays, workdays } = read(fixture('china-phone-2026'));
    expect(dates(workdays)).toEqual(['2026-09-20', '2026-10-10']);
    expect(dates(holidays)).toEqual([1, 2, 3, 4, 5, 6, 7].map((day) => `2026-10-0${day}`));
  });

  it('are without a mark those whose summary or category has one of the words; descriptions do not count', () => {
    const { holidays, workdays } = read(fixture('china-notice-2026'));
    expect(dates(workdays)).toEqual(['2026-02-14', '2026-02-28', '2026-06-06']);
    const spring = [15, 16, 17, 18, 19, 20, 21, 22, 23].map((day) => `2026-02-${day}`);
    expect(dates(holidays)).toEqual([...spring, '2026-06-05']);
  });

  it('are none without words, and others with other words', () => {
    const notice = fixture('china-notice-2026');
    expect(read(notice, { workdayWords: [] }).workdays).toEqual([]);
    expect(dates(read(notice, { workdayWords: ['STOCK-taking'] }).workdays)).toEqual(['2026-06-06']);
  });

  it('stand above a holiday that covers them', () => {
    const both = file(
      event('DTSTART;VALUE=DATE:20260501', 'DTEND;VALUE=DATE:20260506', 'SUMMARY:劳动节'),
      event('DTSTART;VALUE=DATE:20260504', 'SUMMARY:班'),
    );
    const { holidays, workdays } = read(both);
    expect(dates(holidays)).toEqual(['2026-05-01', '2026-05-02', '2026-05-03', '2026-05-05']);
    expect(dates(workdays)).toEqual(['2026-05-04']);
  });
});

describe('a refused file', () => {
  it.each([
    ['an error page', '<html>\n<body>404</body>', /line 1: "<html>" is not iCalendar/],
    ['a line of junk', `BEGIN:VCALENDAR\n${event('SUMMARY:x', 'junk')}`, /line 4: "junk" is not iCalendar/],
    ['nothing', '', /has no all-day event/],
    ['a calendar without events', file(), /has no all-day event/],
    ['a contact', 'BEGIN:VCARD\nEND:VCARD', /line 1: is outside of a calendar/],
    ['half a file', 'BEGIN:VCALENDAR\nBEGIN:VEVENT', /line 2: begins VEVENT, which never ends/],
    ['crossed ends', 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR', /line 3: ends VCALENDAR/],
    ['no start', file(event('SUMMARY:x')), /line 2: begins an event without DTSTART/],
    ['no such day', file(event('DTSTART;VALUE=DATE:20260230')), /line 3: "2026-02-30" is not a date/],
    ['letters', file(event('DTSTART;VALUE=DATE:tomorrow')), /line 3: .* is not a date/],
    [
      'a meeting',
      file(event('DTSTART:20260105T090000Z')),
      /line 3: .* is a time of a day; a calendar takes all-day/,
    ],
    ['a midnight somewhere', file(event('DTSTART:20260105T000000Z')), /line 3: .* is a time of a day/],
    ['a meeting over days', file(event('DTSTART;VALUE=DATE:20260105', 'DTEND:20260106T120000')), /line 4: /],
    [
      'an end before its begin',
      file(event('DTSTART;VALUE=DATE:20260105', 'DTEND;VALUE=DATE:20260104')),
      /line 4: /,
    ],
    ['hours', file(event('DTSTART;VALUE=DATE:20260105', 'DURATION:PT8H')), /line 4: makes an event that/],
    [
      'two years',
      file(event('DTSTART;VALUE=DATE:20260105', 'DURATION:P730D')),
      /line 4: makes an event that/,
    ],
    [
      'every Friday',
      file(event('DTSTART;VALUE=DATE:20260102', 'RRULE:FREQ=WEEKLY')),
      /line 4: .*not FREQ=YEARLY; .*weekend/,
    ],
    [
      'a broken rule',
      file(event('DTSTART;VALUE=DATE:20260102', 'RRULE:FREQ=EVER')),
      /line 4: cannot be read/,
    ],
    [
      'a hard rule',
      file(event('DTSTART;VALUE=DATE:20260102', 'RRULE:FREQ=YEARLY;BYWEEKNO=20')),
      /line 4: .*BYWEEKNO/,
    ],
    [
      'every month',
      file(event('DTSTART;VALUE=DATE:20260102', 'RRULE:FREQ=YEARLY;BYMONTHDAY=2')),
      /line 4: .*without BYMONTH/,
    ],
    [
      'a count of none',
      file(event('DTSTART;VALUE=DATE:20260102', 'RRULE:FREQ=YEARLY;COUNT=0')),
      /line 4: .*COUNT/,
    ],
  ])('is %s', (_what, text, problem) => {
    expect(refusal(text)).toMatch(problem);
    expect(refusal(text)).toMatch(/^text: /);
  });

  it('is one without a day in an asked year, or with a gap between these', () => {
    const one = file(event('DTSTART;VALUE=DATE:20260105'));
    expect(refusal(one, { years: [2026, 2027] })).toMatch(/^years: the file has no day in 2027/);
    expect(refusal(one, { years: [2026, 2028] })).toMatch(/^years: leaves out 2027/);
  });

  it('is one with more days than a calendar takes', () => {
    const years = Array.from({ length: 15 }, (_, i) =>
      event(`DTSTART;VALUE=DATE:${2020 + i}0101`, `DTEND;VALUE=DATE:${2021 + i}0101`),
    );
    expect(refusal(file(...years))).toMatch(`has more than ${MAX_CALENDAR_DAYS} days`);
  });
});

describe('any file', () => {
  it('makes a calendar or is refused', () => {
    const line = fc.constantFrom(
      ...[
        'RRULE:FREQ=YEARLY',
        'RRULE:FREQ=YEARLY;COUNT=9;BYMONTH=2;BYMONTHDAY=30',
        'RDATE:20270201,20280229',
      ],
      ...[
        'EXDATE:20270101',
        'RECURRENCE-ID:20270101',
        'UID:1',
        'UID:2',
        'STATUS:CANCELLED',
        'DURATION:P400D',
      ],
      ...[
        'SUMMARY:班',
        `SUMMARY:${'a\\n'.repeat(80)}`,
        'SUMMARY:',
        'DTEND;VALUE=DATE:20260131',
        'X-JUNK:\u0000',
        ' fold',
      ],
    );
    const start = fc.constantFrom('20260101', '16010101T000000', '22001231', '20240229');
    const some = fc
      .tuple(start, fc.array(line, { maxLength: 5 }))
      .map(([date, lines]) => event(`DTSTART:${date}`, ...lines));
    let taken = 0;
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 3 }), (events) => {
        if (refusal(file(...events)) !== 'taken') return;
        taken++;
        const calendar = {
          name: 'x',
          description: '',
          weekend: [],
          excludedTimes: [],
          ...read(file(...events)),
        };
        expect(() => assertCalendar(calendar)).not.toThrow();
      }),
      { numRuns: 1000 },
    );
    expect(taken).toBeGreaterThan(100);
  });

  const every = 'RRULE:FREQ=YEARLY;COUNT=500;BYDAY=MO;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12';
  it.each([
    [
      'rules that count for ever',
      file(...Array.from({ length: 1800 }, () => event('DTSTART:15830101', every))),
    ],
    ['long events', file(...Array.from({ length: 4000 }, () => event('DTSTART:20260101', 'DURATION:P366D')))],
    [
      'long repeats',
      file(event('DTSTART:20260101', 'DURATION:P9D', `RDATE:${'20260101,'.repeat(28_000)}20260101`)),
    ],
    ['open components', `BEGIN:VCALENDAR\n${'BEGIN:A\n'.repeat(30_000)}`],
    ['folds', `BEGIN:VCALENDAR\nX:${'a\n '.repeat(80_000)}`],
  ])('of the largest size is refused soon when it holds %s', (_what, text) => {
    const before = performance.now();
    expect(refusal(text)).toMatch(/too many days and years|never ends/);
    // Half a second here; without the bounds the first three take up to a minute.
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});
