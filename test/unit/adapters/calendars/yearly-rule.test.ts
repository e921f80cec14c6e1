import fc from 'fast-check';
import ICAL from 'ical.js';
import { describe, expect, it } from 'vitest';
import { propertyOf } from '../../../../src/adapters/calendars/ics-lines.js';
import { occurrences, yearlyRule } from '../../../../src/adapters/calendars/yearly-rule.js';
import { dateOfDay } from '../../../../src/domain/calendar.js';

const dayOf = (date: string) => Date.parse(date) / 86_400_000;

const days = (rule: string, start: string, from: string, to: string): string[] => {
  const property = propertyOf({ line: 1, name: 'RRULE', text: `RRULE:${rule}` });
  return occurrences(
    yearlyRule(property),
    dayOf(start),
    { from: dayOf(from), to: dayOf(to) },
    () => undefined,
  ).map(dateOfDay);
};

describe('a yearly rule', () => {
  it.each([
    ['Thanksgiving', 'FREQ=YEARLY;BYMONTH=11;BYDAY=4TH', '1863-11-26', ['2026-11-26', '2027-11-25']],
    ['Memorial Day', 'FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO', '1971-05-31', ['2026-05-25', '2027-05-31']],
    [
      'Victoria Day',
      'FREQ=YEARLY;BYMONTH=5;BYDAY=MO;BYMONTHDAY=18,19,20,21,22,23,24',
      '1952-05-19',
      ['2026-05-18', '2027-05-24'],
    ],
    [
      'the last of two months',
      'FREQ=YEARLY;BYMONTH=12,2;BYMONTHDAY=-1',
      '2000-02-29',
      ['2026-02-28', '2026-12-31', '2027-02-28', '2027-12-31'],
    ],
    ['every second year', 'FREQ=YEARLY;INTERVAL=2', '2001-07-14', ['2027-07-14']],
  ])('%s', (_name, rule, start, expected) => {
    expect(days(rule, start, '2026-01-01', '2027-12-31')).toEqual(expected);
  });

  it('skips the years in which its day does not exist', () => {
    expect(days('FREQ=YEARLY', '2020-02-29', '2020-01-01', '2030-12-31')).toEqual([
      '2020-02-29',
      '2024-02-29',
      '2028-02-29',
    ]);
  });

  it('ends after COUNT days, counted from its first one, and with UNTIL', () => {
    expect(days('FREQ=YEARLY;COUNT=3', '2024-05-01', '2026-01-01', '2030-12-31')).toEqual(['2026-05-01']);
    const until = 'FREQ=YEARLY;UNTIL=20270501T000000Z';
    expect(days(until, '2024-05-01', '2026-01-01', '2030-12-31')).toEqual(['2026-05-01', '2027-05-01']);
  });

  it('gives what ical.js gives where each date of the rule exists in every year', () => {
    const some = <T>(values: readonly T[]) =>
      fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
    const months = some([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    const byDay = some(['1MO', '2TU', '3WE', '4TH', '-1FR', '-2SA', '-4SU']);
    const byMonthDay = some([1, 5, 14, 28]);
    const parts = fc.oneof(
      fc.tuple(months, byDay).map(([m, d]) => `;BYMONTH=${m.join()};BYDAY=${d.join()}`),
      fc.tuple(months, byMonthDay).map(([m, d]) => `;BYMONTH=${m.join()};BYMONTHDAY=${d.join()}`),
      months.map((m) => `;BYMONTH=${m.join()}`),
      fc.constant(''),
    );
    const ends = fc.constantFrom('', ';COUNT=300', ';UNTIL=20270615');
    const start = fc.constantFrom('1911-12-28', '2019-03-05', '2024-01-01');
    fc.assert(
      fc.property(parts, ends, start, fc.integer({ min: 1, max: 4 }), (by, end, first, interval) => {
        const rule = `FREQ=YEARLY;INTERVAL=${interval}${by}${end}`;
        const iterator = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateString(first));
        const expected: string[] = [];
        for (let next = iterator.next(); next !== null && next.year <= 2032; next = iterator.next())
          expected.push(next.toString());
        expect(days(rule, first, '1911-01-01', '2032-12-31')).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
