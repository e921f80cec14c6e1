import { describe, expect, it } from 'vitest';
import { DEFAULT_CRON } from '../../../src/domain/cron.js';
import { InvalidInput } from '../../../src/domain/errors.js';
import { crontabText, nextText } from '../../../src/main/next.js';

const NOW = Date.UTC(2026, 0, 5);
const OPTIONS = { ...DEFAULT_CRON, tz: 'Asia/Shanghai', count: 2 };
const json = <T>(text: string): T => JSON.parse(text) as T;

const CRONTAB = `# jobs of the shop
SHELL=/bin/sh
MAILTO = ops
30 2 * * 1-5   /opt/backup --all "a b"

@daily\trotate
CRON_TZ="America/New_York"
  0 9 ? * 2 report
61 * * * * broken
@reboot start
* * *
`;

describe('ax next', () => {
  it('prints what an expression means and when it fires', () => {
    expect(nextText('0 9 * * 1-5', OPTIONS, NOW).split('\n')).toEqual([
      'At 09:00, Monday through Friday, Asia/Shanghai',
      '在09:00, 星期一至星期五, Asia/Shanghai',
      '2026-01-05T01:00:00.000Z  Mon 2026-01-05T09:00:00.000+08:00',
      '2026-01-06T01:00:00.000Z  Tue 2026-01-06T09:00:00.000+08:00',
      '',
    ]);
  });

  it('starts from another instant, warns, and notes changes of the clocks', () => {
    const options = { ...OPTIONS, tz: 'America/New_York', from: '2026-03-07T12:00:00-05:00', count: 1 };
    expect(nextText('30 2 */2 * *', options, NOW)).toContain('\nwarning: cron_expr: day of month: "*/2"');
    const [, , fire] = nextText('30 2 * * *', options, NOW).split('\n');
    expect(fire).toMatch(/^2026-03-08T07:00:00.000Z .*-04:00 {2}2026-03-08 02:30:00 does not exist/);
    const skipped = nextText('30 2 * * *', { ...options, dstGap: 'skip' }, NOW);
    expect(skipped).toContain('2026-03-09T06:30:00.000Z');
  });

  it('prints the JSON of the preview', () => {
    const answer = json(
      nextText('0 0 9 ? * 2', { ...OPTIONS, dialect: 'quartz', json: true, count: 1 }, NOW),
    );
    expect(answer).toMatchObject({
      description: 'At 09:00, only on Monday, Asia/Shanghai',
      fires: [
        {
          at: '2026-01-05T01:00:00.000Z',
          fires_at: '2026-01-05T01:00:00.000Z',
          local: '2026-01-05T09:00:00.000+08:00',
          note: null,
        },
      ],
    });
  });

  it.each([
    ['61 * * * *', {}],
    ['@daily', { from: 'tomorrow' }],
    ['@daily', { tz: 'Mars/Phobos' }],
  ])('refuses %j with %j', (expr, more) => {
    expect(() => nextText(expr, { ...OPTIONS, ...more }, NOW)).toThrow(InvalidInput);
  });
});

describe('ax next of a crontab', () => {
  it('reads every job of it, each in its zone, and goes on after one that is refused', () => {
    const { text, isClean } = crontabText(CRONTAB, { ...OPTIONS, json: true, count: 1 }, NOW);
    const entries = json<Record<string, unknown>[]>(text);
    expect(entries.map(({ line, cron_expr, command }) => [line, cron_expr, command])).toEqual([
      [4, '30 2 * * 1-5', '/opt/backup --all "a b"'],
      [6, '@daily', 'rotate'],
      [8, '0 9 ? * 2', 'report'],
      [9, '61 * * * *', 'broken'],
      [10, '@reboot', 'start'],
      [11, '* * *', ''],
    ]);
    expect(entries[0]).toMatchObject({ fires: [{ local: '2026-01-06T02:30:00.000+08:00' }] });
    expect(entries[2]).toMatchObject({ description: 'At 09:00, only on Tuesday, America/New_York' });
    expect(entries[2]?.['warnings']).toHaveLength(1);
    expect(entries[3]).toMatchObject({ errors: [{ field: 'cron_expr', token: '61', position: 1 }] });
    expect(entries[5]).toMatchObject({ errors: [{ kind: 'field_count' }] });
    expect(isClean).toBe(false);
  });

  it('prints lines under each job', () => {
    const { text, isClean } = crontabText('0 9 * * 1 report\n@daily x\n', { ...OPTIONS, count: 1 }, NOW);
    expect(isClean).toBe(true);
    expect(text.split('\n').slice(0, 6)).toEqual([
      'line 1: 0 9 * * 1  report',
      '  At 09:00, only on Monday, Asia/Shanghai',
      '  在09:00, 仅星期一, Asia/Shanghai',
      '  2026-01-05T01:00:00.000Z  Mon 2026-01-05T09:00:00.000+08:00',
      '',
      'line 2: @daily  x',
    ]);
  });
});
