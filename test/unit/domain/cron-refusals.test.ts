import { describe, expect, it } from 'vitest';
import { MAX_CRON_LENGTH } from '../../../src/domain/cron/parse-cron-text.js';
import { type CronRule } from '../../../src/domain/cron.js';
import { createTask } from '../../../src/domain/task.js';
import { problemsIn } from './cron-of.js';
import { cronSchedule, definition } from './definition.js';
import { problemsOf } from './problems-of.js';

const NOW = Date.UTC(2026, 0, 5);
const refusalsOf = (expr: string, timezone = 'UTC') =>
  problemsOf(() => createTask('t', definition({ schedule: cronSchedule(expr, timezone) }), NOW));

/** `kind`, then the offending token and its position. */
const briefly = (expr: string, more: Partial<CronRule> = {}): string[] =>
  problemsIn(expr, 'UTC', more).map(({ kind, token, position }) => `${kind} ${token} ${position}`);

describe('cron expressions that are refused at save', () => {
  it.each([
    ['', '"" has 0 fields (field_count, position 1)'],
    [' ', '" " has 0 fields'],
    ['\t', '"\t" has 0 fields'],
    ['*', '"*" has 1 fields'],
    ['* * *', '"* * *" has 3 fields'],
    ['* * * *', '"* * * *" has 4 fields (field_count, position 1)'],
    ['0 0 12 * * ? 2026', 'has 7 fields'],
    ['@reboot', '"@reboot" has 1 fields'],
    ['@hourly @daily', 'has 2 fields'],
    ['0 0 * *\n*', 'has 4 fields'],
  ])('%j: %s', (expr, problem) => {
    expect(refusalsOf(expr)).toEqual([
      {
        field: 'cron_expr',
        problem: expect.stringContaining(problem) as string,
        fix: expect.stringContaining('give five fields') as string,
        kind: 'field_count',
        token: expr,
        position: 1,
      },
    ]);
  });

  it.each([
    ['61 * * * * *', 'second', 'out_of_range 61 1'],
    ['60 * * * *', 'minute', 'out_of_range 60 1'],
    ['* 24 * * *', 'hour', 'out_of_range 24 3'],
    ['* * 0 * *', 'day of month', 'out_of_range 0 5'],
    ['* * * 13 *', 'month', 'out_of_range 13 7'],
    ['* * * * 8', 'day of week', 'out_of_range 8 9'],
    ['0-60 * * * *', 'minute', 'out_of_range 0-60 1'],
    ['99999999999999999999 * * * *', 'minute', 'out_of_range 99999999999999999999 1'],
    ['\t 0   0,60\t* * *', 'hour', 'out_of_range 60 9'],
    ['30-10 * * * *', 'minute', 'reversed_range 30-10 1'],
    ['5-3/2 * * * *', 'minute', 'reversed_range 5-3/2 1'],
    ['* 22-2 * * *', 'hour', 'reversed_range 22-2 3'],
    ['* * * NOV-FEB *', 'month', 'reversed_range NOV-FEB 7'],
    ['* * * * FRI-MON', 'day of week', 'reversed_range FRI-MON 9'],
    ['*/0 * * * *', 'minute', 'bad_step */0 1'],
    ['5/0 * * * *', 'minute', 'bad_step 5/0 1'],
    ['1/2/3 * * * *', 'minute', 'bad_step 1/2/3 1'],
    ['*/2.5 * * * *', 'minute', 'bad_step */2.5 1'],
    ['*/ * * * *', 'minute', 'bad_step */ 1'],
    ['*/-5 * * * *', 'minute', 'bad_step */-5 1'],
    ['1,,2 * * * *', 'minute', 'empty_item  3'],
    ['5, * * * *', 'minute', 'empty_item  3'],
    [',5 * * * *', 'minute', 'empty_item  1'],
    ['1.5 * * * *', 'minute', 'bad_token 1.5 1'],
    ['-5 * * * *', 'minute', 'bad_token -5 1'],
    ['** * * * *', 'minute', 'bad_token ** 1'],
    ['*-5 * * * *', 'minute', 'bad_token *-5 1'],
    ['MON * * * *', 'minute', 'bad_token MON 1'],
    ['L * * * *', 'minute', 'bad_token L 1'],
    ['* * * L *', 'month', 'bad_token L 7'],
    ['* * * JAN1 *', 'month', 'bad_token JAN1 7'],
    ['* * * 1JAN *', 'month', 'bad_token 1JAN 7'],
    ['* * * JANUARY *', 'month', 'bad_token JANUARY 7'],
    ['* * * * 0MON', 'day of week', 'bad_token 0MON 9'],
    ['0\u00a00 * * * *', 'minute', 'bad_token 0\u00a00 1'],
    ['0 9 * * *\n', 'day of week', 'bad_token *\n 9'],
    ['* * * * L', 'day of week', 'bad_modifier L 9'],
    ['* * * * #2', 'day of week', 'bad_modifier #2 9'],
    ['* * * * *#2', 'day of week', 'bad_modifier *#2 9'],
    ['* * * * 1-5L', 'day of week', 'bad_modifier 1-5L 9'],
    ['* * * * 1#1.5', 'day of week', 'bad_modifier 1#1.5 9'],
    ['* * * * 15W', 'day of week', 'bad_modifier 15W 9'],
    ['* * * * 5#0', 'day of week', 'out_of_range 5#0 9'],
    ['* * * * 5#6', 'day of week', 'out_of_range 5#6 9'],
    ['* * * * 8L', 'day of week', 'out_of_range 8L 9'],
    ['0 0 1-5W * *', 'day of month', 'bad_modifier 1-5W 5'],
    ['0 0 W * *', 'day of month', 'bad_modifier W 5'],
    ['0 0 L-3W * *', 'day of month', 'bad_modifier L-3W 5'],
    ['0 0 5L * *', 'day of month', 'bad_modifier 5L 5'],
    ['0 0 1,L-31 * *', 'day of month', 'out_of_range L-31 7'],
    ['0 0 32W * *', 'day of month', 'out_of_range 32W 5'],
    ['0 0 0W * *', 'day of month', 'out_of_range 0W 5'],
  ])('%j: %s, %s', (expr, field, problem) => {
    expect(briefly(expr)).toEqual([problem]);
    const [refusal] = refusalsOf(expr);
    const { token, position } = refusal ?? {};
    expect(refusal?.problem).toMatch(new RegExp(`^${field}: "`));
    expect(refusal?.problem).toContain(`"${token}" `);
    expect(refusal?.problem).toContain(`position ${position})`);
    expect(refusal?.fix).toMatch(/^use /);
  });

  it('says what to write instead of a range that runs backwards', () => {
    const fixOf = (expr: string) => problemsIn(expr)[0]?.fix;
    expect(fixOf('0 22-2 * * *')).toBe('use two ranges, "22-23,0-2"');
    expect(fixOf('0 0 * * fri-mon')).toBe('use two ranges, "fri-SAT,SUN-mon"');
    expect(fixOf('0 0 * NOV-FEB *')).toBe('use two ranges, "NOV-DEC,JAN-FEB"');
    for (const expr of ['0 22-23,0-2 * * *', '0 0 * * fri-SAT,SUN-mon', '0 0 * NOV-DEC,JAN-FEB *']) {
      expect(problemsIn(expr)).toEqual([]);
    }
  });

  it('a zone before the expression belongs into its own field', () => {
    expect(problemsIn('TZ=America/New_York 0 9 * * *')).toEqual([
      expect.objectContaining({ kind: 'bad_token', token: 'TZ=America/New_York', position: 1 }),
    ]);
    expect(problemsIn('TZ=America/New_York 0 9 * * *')[0]?.fix).toBe('put a time zone into timezone');
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
        kind: 'bad_token',
        problem: expect.stringContaining('stands for a random value') as string,
      }),
    ]);
  });

  it.each([
    ['0 0 30 2 *', '30'],
    ['0 0 30 2 ?', '30'],
    ['0 0 31 2,4,6,9,11 *', '31'],
    ['0 0 30,31 FEB *', '30,31'],
    ['0 0 L-29 2 *', 'L-29'],
    ['0 0 31W 4 *', '31W'],
    ['0 0 */31 2 1#5', '*/31'],
  ])('%j never fires', (expr, token) => {
    expect(briefly(expr)).toEqual([`never_fires ${token} 5`]);
  });

  it('refuses a rule whose every slot is in a gap that is skipped, and one whose years are over', () => {
    // The last Sunday of March is when clocks are put forward in Berlin.
    const inGap = cronSchedule('30 2 * 3 0L', 'Europe/Berlin', { dstGap: 'skip' });
    expect(problemsOf(() => createTask('t', definition({ schedule: inGap }), NOW))).toEqual([
      expect.objectContaining({ field: 'cron_expr', kind: 'never_fires' }),
    ]);
    const over = cronSchedule('0 0 12 1 1 ? 2025', 'UTC', { dialect: 'quartz' });
    const problems = problemsOf(() => createTask('t', definition({ schedule: over }), NOW));
    expect(problems[0]?.problem).toContain('has no fire time after 2026-01-05T00:00:00.000Z (never_fires');
  });

  it('refuses a slot that exists only after the end', () => {
    const schedule = cronSchedule('0 0 29 2 *', 'UTC', { endAt: Date.UTC(2028, 1, 28) });
    expect(problemsOf(() => createTask('t', definition({ schedule }), NOW))).toEqual([
      expect.objectContaining({ field: 'end_at', problem: expect.stringContaining('never_fires') as string }),
    ]);
  });

  it('names every bad item of every field, and the zone, at once', () => {
    const problems = refusalsOf('61 25,* 1-5W,0 * FRI-MON', 'Mars/Phobos');
    expect(problems.map(({ field, kind, token }) => [field, kind, token])).toEqual([
      ['timezone', undefined, undefined],
      ['cron_expr', 'out_of_range', '61'],
      ['cron_expr', 'out_of_range', '25'],
      ['cron_expr', 'bad_modifier', '1-5W'],
      ['cron_expr', 'out_of_range', '0'],
      ['cron_expr', 'reversed_range', 'FRI-MON'],
    ]);
  });

  it('bounds the length', () => {
    const list = Array.from({ length: 60 }, (_, i) => i).join(',');
    expect(problemsIn(`${list} * * * *`, 'UTC')).toEqual([]);
    const [problem] = problemsIn(`${'0'.repeat(MAX_CRON_LENGTH)} * * * *`, 'UTC');
    expect(problem).toMatchObject({ field: 'cron_expr', kind: 'too_long', position: 1 });
    expect(problem?.problem.length).toBeLessThan(200);
  });
});

describe('expressions of Quartz that are refused', () => {
  it.each([
    ['0 0 9 * * MON', 'day_fields MON 11'],
    ['0 0 9 ? * ?', 'day_fields ? 11'],
    ['0 0 9 1 * 1', 'day_fields 1 11'],
    ['0 9 * * MON', 'day_fields MON 9'],
    ['0 0 9 ? * 0', 'out_of_range 0 11'],
    ['0 0 9 ? * 8', 'out_of_range 8 11'],
    ['0 0 9 ? * 0#1', 'out_of_range 0#1 11'],
    ['0 ? 9 ? * 1', 'bad_token ? 3'],
    ['0 0 9 ?/2 * 1', 'bad_token ?/2 7'],
    ['0 0 9 1,? * 1', 'bad_token ? 9'],
    ['0 0 9 1 ? ?', 'bad_token ? 9'],
    ['0 0 9 1 1 ? 1969', 'out_of_range 1969 13'],
    ['0 0 9 1 1 ? 2100', 'out_of_range 2100 13'],
    ['0 0 9 1 1 ? 2030-2029', 'reversed_range 2030-2029 13'],
    ['0 0 9 29 2 ? 2026,2027', 'never_fires 29 7'],
    ['0 0 9 1 1 ? 2026 *', 'field_count 0 0 9 1 1 ? 2026 * 1'],
  ])('%j: %s', (expr, problem) => {
    expect(briefly(expr, { dialect: 'quartz' })).toEqual([problem]);
    for (const { fix } of problemsIn(expr, 'UTC', { dialect: 'quartz' })) expect(fix).not.toBe('');
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
      expect(problemsIn('0 9 * * *', timezone)).toEqual([]);
    },
  );
});
