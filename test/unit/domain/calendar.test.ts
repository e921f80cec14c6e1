import { describe, expect, it } from 'vitest';
import {
  assertCalendar,
  type CalendarDefinition,
  calendarProblems,
  dateOfDay,
  dayNumberOf,
  MAX_CALENDAR_DAYS,
  secondOfDay,
  type Weekday,
} from '../../../src/domain/calendar.js';
import { InvalidInput } from '../../../src/domain/errors.js';

const GOOD: CalendarDefinition = {
  name: 'china',
  description: 'Mainland China, 国务院',
  weekend: [0, 6],
  holidays: [{ date: '2026-10-01', name: '国庆节' }],
  workdays: [{ date: '2026-10-10', name: null }],
  excludedTimes: [{ from: '01:00:00', to: '05:00:00' }],
  knownUntil: '2026-12-31',
};

const fieldsOf = (change: Partial<CalendarDefinition>): string[] =>
  calendarProblems({ ...GOOD, ...change }).map(({ field }) => field);
const holiday = (date: string) => ({ date, name: null });

describe('calendarProblems', () => {
  it('finds none in a good calendar, also in one without any working day', () => {
    expect(calendarProblems(GOOD)).toEqual([]);
    expect(
      fieldsOf({ weekend: [0, 1, 2, 3, 4, 5, 6], holidays: [], workdays: [], knownUntil: null }),
    ).toEqual([]);
    expect(fieldsOf({ excludedTimes: [{ from: '00:00:00', to: '24:00:00' }] })).toEqual([]);
  });

  it.each<[Partial<CalendarDefinition>, string[]]>([
    [{ name: 'a/b' }, ['name']],
    [{ name: '' }, ['name']],
    [{ description: 'a\u0000' }, ['description']],
    [{ description: 'x'.repeat(501) }, ['description']],
    [{ weekend: [7 as Weekday] }, ['weekend.0']],
    [{ weekend: [6, 6] }, ['weekend.1']],
    [{ holidays: [holiday('2026-02-28'), holiday('2026-02-30')] }, ['holidays.1.date']],
    [{ holidays: [holiday('2025-02-29')] }, ['holidays.0.date']],
    [
      { holidays: [holiday('26-01-01'), holiday('1969-12-31'), holiday('2200-01-01')] },
      [0, 1, 2].map((i) => `holidays.${i}.date`),
    ],
    [{ holidays: [holiday('2026-05-01'), holiday('2026-05-01')] }, ['holidays.1.date']],
    [{ workdays: [holiday('2026-10-01')] }, ['workdays.0.date']],
    [{ workdays: [{ date: '2026-10-10', name: 'a\n' }] }, ['workdays.0.name']],
    [{ excludedTimes: [{ from: '05:00:00', to: '01:00:00' }] }, ['excluded_times.0.to']],
    [{ excludedTimes: [{ from: '05:00:00', to: '05:00:00' }] }, ['excluded_times.0.to']],
    [{ excludedTimes: [{ from: '5:00', to: '24:00:01' }] }, ['excluded_times.0.from', 'excluded_times.0.to']],
    [
      { excludedTimes: Array.from({ length: 25 }, () => ({ from: '01:00:00', to: '02:00:00' })) },
      ['excluded_times'],
    ],
    [{ knownUntil: '2026-13-01' }, ['known_until']],
  ])('names the field of %j', (change, fields) => {
    expect(fieldsOf(change)).toEqual(fields);
  });

  it('takes as many days as are allowed and not one more', () => {
    const days = (count: number) => Array.from({ length: count }, (_, i) => holiday(dateOfDay(20_000 + i)));
    expect(fieldsOf({ holidays: days(MAX_CALENDAR_DAYS), workdays: [] })).toEqual([]);
    expect(fieldsOf({ holidays: days(MAX_CALENDAR_DAYS), workdays: [holiday('1999-01-02')] })).toEqual([
      'holidays',
    ]);
  });

  it('refuses with every problem at once', () => {
    const bad = { ...GOOD, name: ' ', knownUntil: 'never' };
    expect(() => assertCalendar(bad)).toThrow(InvalidInput);
    expect(() => assertCalendar(GOOD)).not.toThrow();
  });
});

it('counts days and seconds', () => {
  expect(['1970-01-01', '2000-02-29', '2026-10-01'].map(dayNumberOf)).toEqual([0, 11_016, 20_727]);
  expect(dateOfDay(20_727)).toBe('2026-10-01');
  expect(['00:00:00', '04:59:59', '24:00:00', '24:00:01', '25:00:00', '1:00'].map(secondOfDay)).toEqual([
    0,
    17_999,
    86_400,
    null,
    null,
    null,
  ]);
});
