import { describe, expect, it } from 'vitest';
import { cronProblems } from '../../../src/domain/cron.js';
import { MAX_CRON_LENGTH } from '../../../src/domain/cron-syntax.js';
import { createTask } from '../../../src/domain/task.js';
import { cronSchedule, definition } from './definition.js';
import { problemsOf } from './problems-of.js';

const NOW = Date.UTC(2026, 0, 5);
const refusalsOf = (expr: string, timezone = 'UTC') =>
  problemsOf(() => createTask('t', definition({ schedule: cronSchedule(expr, timezone) }), NOW));

describe('cron expressions that are refused at save', () => {
  it.each([
    ['', 'has 0 fields'],
    [' ', 'has 0 fields'],
    ['\t', 'has 0 fields'],
    ['*', 'has 1 fields'],
    ['* * *', 'has 3 fields'],
    ['* * * *', 'has 4 fields'],
    ['0 0 12 * * ? 2026', 'has 7 fields'],
    ['@reboot', 'has 1 fields'],
    ['TZ=America/New_York 0 9 * * *', 'second: "TZ=America/New_York" is not supported'],
    ['0\u00a00 * * * *', 'minute: "0\u00a00" is not supported'],
    ['0 0 * *\n*', 'has 4 fields'],
    ['0 9 * * *\n', 'day of week: "*\n" is not supported'],
    ['5,5 * * * *', 'duplicate values'],
  ])('%j: %s', (expr, problem) => {
    const [first] = refusalsOf(expr);
    expect(first).toMatchObject({ field: 'cron_expr', problem: expect.stringContaining(problem) as string });
    expect(first?.fix).toMatch(/five fields|use /);
  });

  it.each([
    ['61 * * * * *', 'second: "61" is out of range'],
    ['60 * * * *', 'minute: "60" is out of range'],
    ['* 24 * * *', 'hour: "24" is out of range'],
    ['* * 0 * *', 'day of month: "0" is out of range'],
    ['* * * 13 *', 'month: "13" is out of range'],
    ['* * * * 8', 'day of week: "8" is out of range'],
    ['0-60 * * * *', 'minute: "0-60" is out of range'],
    ['99999999999999999999 * * * *', 'out of range'],
    ['30-10 * * * *', 'minute: "30-10" runs backwards'],
    ['5-3/2 * * * *', 'minute: "5-3/2" runs backwards'],
    ['* 22-2 * * *', 'hour: "22-2" runs backwards'],
    ['* * * NOV-FEB *', 'month: "NOV-FEB" runs backwards'],
    ['* * * * FRI-MON', 'day of week: "FRI-MON" runs backwards'],
    ['*/0 * * * *', 'minute: "*/0" has a step of zero'],
    ['5/0 * * * *', 'minute: "5/0" has a step of zero'],
    ['1,,2 * * * *', 'minute: a list has an empty item'],
    ['5, * * * *', 'minute: a list has an empty item'],
    ['1.5 * * * *', 'minute: "1.5" is not supported'],
    ['-5 * * * *', 'minute: "-5" is not supported'],
    ['1/2/3 * * * *', 'minute: "1/2/3" is not supported'],
    ['*/2.5 * * * *', 'minute: "*/2.5" is not supported'],
    ['** * * * *', 'minute: "**" is not supported'],
    ['*-5 * * * *', 'minute: "*-5" is not supported'],
    ['MON * * * *', 'minute: "MON" is not supported'],
    ['L * * * *', 'minute: "L" is not supported'],
    ['* * * L *', 'month: "L" is not supported'],
    ['* * * JAN1 *', 'month: "JAN1" is not supported'],
    ['* * * 1JAN *', 'month: "1JAN" is not supported'],
    ['* * * JANUARY *', 'month: "JANUARY" is not supported'],
    ['* * * * 0MON', 'day of week: "0MON" is not supported'],
    ['* * * * L', 'day of week: "L" is not supported'],
    ['* * * * #2', 'day of week: "#2" is not supported'],
    ['* * * * *#2', 'day of week: "*#2" is not supported'],
    ['* * * * 1-5L', 'day of week: "1-5L" is not supported'],
    ['* * * * 5#0', 'day of week: "5#0" is not supported'],
    ['* * * * 5#6', 'day of week: "5#6" is not supported'],
    ['* * * * 1#1.5', 'day of week: "1#1.5" is not supported'],
    ['* * * * 8L', 'day of week: "8L" is out of range'],
    ['0 0 L-31 * *', 'day of month: "L-31" is not supported'],
    ['0 0 1-5W * *', 'day of month: "1-5W" is not supported'],
  ])('%j: %s', (expr, problem) => {
    expect(refusalsOf(expr)).toEqual([
      {
        field: 'cron_expr',
        problem: expect.stringContaining(problem) as string,
        fix: expect.stringContaining('use ') as string,
      },
    ]);
  });

  it.each([
    'H * * * *',
    'H/15 * * * *',
    'H(0-5) * * * *',
    '5-H * * * *',
    '1H * * * *',
    '* * * * h',
    '0,H 0 * * *',
  ])('%j: H stands for a random value, so that no two nodes would agree', (expr) => {
    expect(refusalsOf(expr)).toEqual([
      expect.objectContaining({
        field: 'cron_expr',
        problem: expect.stringContaining('stands for a random value') as string,
      }),
    ]);
  });

  it.each(['0 0 30 2 *', '0 0 30 2 ?', '0 0 31 2,4,6,9,11 *', '0 0 30,31 FEB *'])(
    '%j never fires',
    (expr) => {
      expect(refusalsOf(expr)).toEqual([
        {
          field: 'cron_expr',
          problem: expect.stringContaining('never_fires') as string,
          fix: 'name a date that exists',
        },
      ]);
    },
  );

  it('refuses a slot that exists only after the end', () => {
    const schedule = cronSchedule('0 0 29 2 *', 'UTC', { endAt: Date.UTC(2028, 1, 28) });
    expect(problemsOf(() => createTask('t', definition({ schedule }), NOW))).toEqual([
      expect.objectContaining({ field: 'end_at', problem: expect.stringContaining('never_fires') as string }),
    ]);
  });

  it('names every bad item of every field, and the zone, at once', () => {
    const problems = refusalsOf('61 25,* 1-5W,0 * FRI-MON', 'Mars/Phobos');
    expect(problems.map(({ field, problem }) => `${field} ${problem}`)).toEqual([
      'timezone "Mars/Phobos" is not a known time zone',
      'cron_expr minute: "61" is out of range',
      'cron_expr hour: "25" is out of range',
      'cron_expr day of month: "1-5W" is not supported',
      'cron_expr day of month: "0" is out of range',
      'cron_expr day of week: "FRI-MON" runs backwards',
    ]);
  });

  it('bounds the length', () => {
    const list = Array.from({ length: 60 }, (_, i) => i).join(',');
    expect(cronProblems(`${list} * * * *`, 'UTC')).toEqual([]);
    expect(cronProblems(`${'0'.repeat(MAX_CRON_LENGTH)} * * * *`, 'UTC')).toEqual([
      expect.objectContaining({
        field: 'cron_expr',
        problem: expect.stringContaining('characters long') as string,
      }),
    ]);
  });
});

describe('time zones that are refused at save', () => {
  it.each([
    'Mars/Phobos',
    'America/New_Yrok',
    'UTC+8',
    '',
    ' ',
    'Asia/Shanghai ',
    '+08:00',
    '-05:00',
    'local',
    'Asia/上海',
  ])('%j', (timezone) => {
    expect(refusalsOf('0 9 * * *', timezone)).toEqual([
      {
        field: 'timezone',
        problem: expect.stringContaining(`"${timezone}"`) as string,
        fix: 'use an IANA name such as "UTC" or "Asia/Shanghai"',
      },
    ]);
  });

  it('an offset is told from an unknown name', () => {
    expect(refusalsOf('0 9 * * *', '+08:00')[0]?.problem).toBe('"+08:00" is an offset, not a time zone');
    expect(refusalsOf('0 9 * * *', 'UTC+8')[0]?.problem).toBe('"UTC+8" is not a known time zone');
  });

  it.each(['UTC', 'Etc/GMT+8', 'Asia/Shanghai', 'asia/shanghai', 'America/Argentina/Buenos_Aires', 'GMT'])(
    '%s is accepted',
    (timezone) => {
      expect(cronProblems('0 9 * * *', timezone)).toEqual([]);
    },
  );
});
