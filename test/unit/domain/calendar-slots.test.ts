import { describe, expect, it } from 'vitest';
import { type Calendar } from '../../../src/domain/calendar.js';
import { type CalendarRule, type CalendarShift } from '../../../src/domain/calendar-use.js';
import { FireTimes, isSameSchedule } from '../../../src/domain/schedule.js';
import { scheduleWords } from '../../../src/domain/schedule-words.js';
import { buildUse, listed } from '../../support/calendars.js';
import { cronSchedule, definition } from './definition.js';
import { createTask } from '../../../src/domain/task.js';
import { problemsOf } from './problems-of.js';

const NOW = Date.UTC(2026, 8, 27);
/** 1 to 8 October 2026 off, Saturday the 10th worked; a Friday to a Thursday. */
const CHINA: Partial<Calendar> = {
  name: 'china',
  holidays: listed(
    '2026-10-01',
    '2026-10-02',
    '2026-10-03',
    '2026-10-04',
    '2026-10-05',
    '2026-10-06',
    '2026-10-07',
  ),
  workdays: listed('2026-10-10'),
};

const schedule = (
  expr: string,
  calendar: Partial<Calendar>,
  rule: CalendarRule = 'workdays',
  shift: CalendarShift = 'none',
) => cronSchedule(expr, 'Asia/Shanghai', { calendar: buildUse(calendar, rule, shift) });

/** Local dates and times of the next `n` slots that fire. */
function firing(
  expr: string,
  calendar: Partial<Calendar>,
  n: number,
  rule?: CalendarRule,
  shift?: CalendarShift,
): string[] {
  const times = new FireTimes();
  const planned = schedule(expr, calendar, rule, shift);
  const found: string[] = [];
  for (let slot = times.nextFiring(planned, NOW); slot !== null && found.length < n;) {
    found.push(new Date(slot + 8 * 3_600_000).toISOString().slice(5, 16));
    slot = times.nextFiring(planned, slot);
  }
  return found;
}

describe('calendar_rule', () => {
  it('workdays: weekends and holidays are left out, make-up days are not', () => {
    expect(firing('0 9 * * *', CHINA, 8).map((at) => at.slice(0, 5))).toEqual([
      '09-28',
      '09-29',
      '09-30',
      '10-08',
      '10-09',
      '10-10',
      '10-12',
      '10-13',
    ]);
  });

  it('holidays: only on those', () => {
    expect(firing('30 8 * * *', CHINA, 9, 'holidays').map((at) => at.slice(0, 5))).toEqual([
      '10-01',
      '10-02',
      '10-03',
      '10-04',
      '10-05',
      '10-06',
      '10-07',
    ]);
  });

  it('skip_holidays: weekends are as the expression says', () => {
    expect(firing('0 9 * * 6,0', CHINA, 4, 'skip_holidays')).toEqual([
      '09-27T09:00',
      '10-10T09:00',
      '10-11T09:00',
      '10-17T09:00',
    ]);
  });
});

describe('calendar_shift', () => {
  it('moves to the next or previous working day, several slots to one', () => {
    expect(firing('0 9 1,3,5 10 *', CHINA, 2, 'workdays', 'next_workday')).toEqual([
      '10-08T09:00',
      '10-01T09:00',
    ]);
    expect(firing('0 9 1,3,5 10 *', CHINA, 1, 'workdays', 'previous_workday')).toEqual(['09-30T09:00']);
  });

  it('goes to a working day also where the rule would allow a weekend', () => {
    const fridayOff = { holidays: listed('2026-10-16') };
    expect(firing('0 9 16,17 10 *', fridayOff, 2, 'skip_holidays', 'next_workday')).toEqual([
      '10-17T09:00',
      '10-19T09:00',
    ]);
  });

  it('says where a slot comes from', () => {
    const planned = schedule('0 9 1 * *', CHINA, 'workdays', 'next_workday');
    const times = new FireTimes();
    const slot = times.next(planned, NOW) ?? NaN;
    expect(times.movedFrom(planned, slot)).toBe('2026-10-01');
    expect(times.movedFrom(planned, times.next(planned, slot) ?? NaN)).toBe('2026-11-01');
    expect(times.movedFrom(planned, Date.UTC(2026, 11, 1, 1))).toBe(null);
  });

  it('gives a slot up where no working day is near', () => {
    expect(
      firing(
        '0 9 * * *',
        { weekend: [0, 1, 2, 3, 4, 5, 6], workdays: listed('2028-01-05') },
        2,
        'workdays',
        'next_workday',
      ),
    ).toEqual(['01-05T09:00']);
  });
});

it('SO-33: a calendar without any day answers "never" soon, and a task that uses it is taken', () => {
  const never: Partial<Calendar>[] = [
    { weekend: [0, 1, 2, 3, 4, 5, 6] },
    { excludedTimes: [{ from: '00:00:00', to: '24:00:00' }] },
  ];
  for (const calendar of never) {
    for (const expr of ['0 9 * * *', '* * * * * *', '0 0 29 2 *', '*/7 3-5 * * MON-FRI']) {
      for (const shift of ['none', 'next_workday', 'previous_workday'] as const) {
        const planned = schedule(expr, calendar, 'workdays', shift);
        const startedAt = performance.now();
        expect(new FireTimes().nextFiring(planned, NOW)).toBe(null);
        expect(performance.now() - startedAt).toBeLessThan(1000);
        expect(createTask('t', definition({ schedule: planned }), NOW).isEnabled).toBe(true);
      }
    }
  }
});

it('SO-34: a time that is left out every day has its start in it and its end not', () => {
  const calendar = { weekend: [], excludedTimes: [{ from: '01:00:00', to: '05:00:00' }] };
  const isLeftOut = (hour: number, minute: number, second: number): boolean => {
    const planned = {
      ...schedule(`${second} ${minute} ${hour} * * ?`, calendar),
      dialect: 'quartz' as const,
    };
    const times = new FireTimes();
    const slot = times.next(planned, NOW) ?? NaN;
    expect(times.nextFiring(planned, NOW)).toBe(times.exclusionOf(planned, slot) === null ? slot : null);
    return times.exclusionOf(planned, slot) !== null;
  };
  expect([isLeftOut(0, 0, 0), isLeftOut(5, 0, 0), isLeftOut(23, 59, 59)]).toEqual([false, false, false]);
  expect([isLeftOut(1, 0, 0), isLeftOut(4, 59, 59)]).toEqual([true, true]);
});

it('tells why a slot is left out', () => {
  const planned = schedule('0 9 * * *', { ...CHINA, holidays: [{ date: '2026-10-01', name: '国庆节' }] });
  expect(new FireTimes().exclusionOf(planned, Date.UTC(2026, 9, 1, 1))).toEqual({
    by: 'day',
    date: '2026-10-01',
    dayName: '国庆节',
    name: 'china',
    version: 1,
    rule: 'workdays',
    shift: 'none',
  });
});

it('refuses a shift of holidays', () => {
  const bad = definition({ schedule: schedule('0 9 * * *', CHINA, 'holidays', 'next_workday') });
  expect(problemsOf(() => createTask('t', bad, NOW)).map(({ field }) => field)).toEqual(['calendar_shift']);
});

it('is part of what makes two schedules the same', () => {
  const of = (version: number, rule: CalendarRule = 'workdays') => schedule('0 9 * * *', { version }, rule);
  expect(isSameSchedule(of(1), of(1))).toBe(true);
  expect(
    [of(2), of(1, 'holidays'), { ...of(1), calendar: null }].map((other) => isSameSchedule(of(1), other)),
  ).toEqual([false, false, false]);
});

it('is stored as a reference', () => {
  const planned: unknown = JSON.parse(
    JSON.stringify(schedule('0 9 * * *', CHINA, 'workdays', 'next_workday')),
  );
  expect(planned).toMatchObject({
    calendar: { name: 'china', version: 1, rule: 'workdays', shift: 'next_workday' },
  });
  expect(JSON.stringify(planned)).not.toContain('2026');
});

it('is told in words', () => {
  const { description } = scheduleWords(schedule('0 9 * * *', CHINA, 'workdays', 'next_workday'));
  expect(description).toEqual({
    en: 'At 09:00, Asia/Shanghai, only on working days of calendar china, else on the next working day',
    zh: '在09:00, Asia/Shanghai, 仅在日历 china 的工作日, 否则顺延至下一个工作日',
  });
});
