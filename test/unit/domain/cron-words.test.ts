import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CronRule } from '../../../src/domain/cron.js';
import { scheduleWords } from '../../../src/domain/schedule-words.js';
import { anyCron } from './any-cron.js';
import { cronSchedule, intervalSchedule } from './definition.js';

const QUARTZ = { dialect: 'quartz' } as const;
const wordsOf = (expr: string, more: Partial<CronRule> = {}) => {
  const { description } = scheduleWords(cronSchedule(expr, 'UTC', more));
  return [description.en.replace(/, UTC$/, ''), description.zh.replace(/, UTC$/, '')];
};
const warningsOf = (expr: string, more: Partial<CronRule> = {}) =>
  scheduleWords(cronSchedule(expr, 'UTC', more)).warnings;

describe('the words for a cron expression', () => {
  it.each([
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday', '在09:00, 星期一至星期五'],
    ['0 9 * * 5-7', 'At 09:00, Friday through Sunday', '在09:00, 星期五至星期日'],
    ['*/5 * * * *', 'Every 5 minutes', '每隔 5 分钟'],
    [
      '5/15 * * * *',
      'Every 15 minutes, starting at 5 minutes past the hour',
      '每隔 15 分钟, 在整点后的第 5 分钟开始',
    ],
    ['*,5 * * * *', 'Every minute', '每分钟'],
    ['@daily', 'At 00:00', '在00:00'],
    ['15 30 9 * * *', 'At 09:30:15', '在09:30:15'],
    ['0 14 * * 5L', 'At 14:00, on the last Friday of the month', '在14:00, 限每月的最后一个星期五'],
    [
      '0 5 LW 3 *',
      'At 05:00, on the last weekday of the month, only in March',
      '在05:00, 限每月的最后一个工作日, 仅于三月份',
    ],
  ])('%s', (expr, en, zh) => {
    expect(wordsOf(expr)).toEqual([en, zh]);
  });

  it.each([
    ['either day is enough', '0 0 13 * 5', 'At 00:00, on day 13 of the month, or on Friday'],
    [
      'either day is enough',
      '0 0 1,15 * 1-5',
      'At 00:00, on day 1 and 15 of the month, or Monday through Friday',
    ],
    ['one of them is every day', '0 0 1-31 * 1', 'At 00:00'],
    ['both must match', '0 0 */15 * 1', 'At 00:00, on day 1, 16, and 31 of the month, if also on Monday'],
    ['a step is not even', '*/25 * * * *', 'At 0, 25, and 50 minutes past the hour'],
    ['a step is longer than its range', '0 */30 * * *', 'At 00:00'],
    ['a step starts late', '50/20 * * * *', 'At 50 minutes past the hour'],
    ['a step of days begins anew', '0 0 */10 * *', 'At 00:00, on day 1, 11, 21, and 31 of the month'],
    ['a range is not reached', '0 9-17/3 * * *', 'At 09:00, 12:00 and 15:00'],
    [
      'L and W are in a list',
      '0 0 15W,L * *',
      'At 00:00, on the weekday nearest day 15 of the month and on the last day of the month',
    ],
    [
      'L is not alone',
      '0 0 L-2,L * *',
      'At 00:00, 2 days before the last day of the month and on the last day of the month',
    ],
    ['weekdays are mixed', '0 0 * * 1L,3', 'At 00:00, only on Wednesday and on the last Monday of the month'],
  ])('say so where %s: %s', (_, expr, en) => {
    expect(wordsOf(expr)[0]).toBe(en);
  });

  it.each([
    ['0 0 9 ? * 2-6', 'At 09:00, Monday through Friday'],
    ['0 0 9 ? * 6#3', 'At 09:00, on the third Friday of the month'],
    ['0 0 9 ? * L', 'At 09:00, only on Saturday'],
    ['0 0 9 ? * FRI-MON', 'At 09:00, only on Sunday, Monday, Friday, and Saturday'],
    ['0 0 22-1 * * ?', 'At 00:00, 01:00, 22:00 and 23:00'],
    ['0 0 9 1 1 ? 2030', 'At 09:00, on day 1 of the month, only in January, only in 2030'],
    [
      '0 0 9 1 1 ? 2030-2034/2',
      'At 09:00, on day 1 of the month, only in January, only in 2030, 2032, and 2034',
    ],
    ['0 0 9 1 1 ? *', 'At 09:00, on day 1 of the month, only in January'],
  ])('of Quartz count weekdays its way: %s', (expr, en) => {
    expect(wordsOf(expr, QUARTZ)[0]).toBe(en);
  });

  it('are found for whatever is accepted', () => {
    fc.assert(
      fc.property(anyCron({ hasSeconds: true }), ({ expr }) => {
        const { description } = scheduleWords(cronSchedule(expr, 'Asia/Shanghai'));
        expect(description.en).toMatch(/^[A-Z].*, Asia\/Shanghai$/);
        expect(description.zh).toMatch(/[\u4e00-\u9fff].*, Asia\/Shanghai$/);
        expect(`${description.en}${description.zh}`).not.toMatch(/undefined|null|NaN|\*/);
      }),
      { numRuns: 100 },
    );
  });

  it('tell the other types, and bounds', () => {
    const startAt = Date.UTC(2026, 0, 5);
    const { description } = scheduleWords(intervalSchedule(7200, startAt, { startAt, endAt: startAt + 1 }));
    expect(description).toEqual({
      en: 'Every 2 hours, counted from 2026-01-05T00:00:00.000Z, not before 2026-01-05T00:00:00.000Z, not after 2026-01-05T00:00:00.001Z',
      zh: '每隔 2 小时, 从 2026-01-05T00:00:00.000Z 起算, 不早于 2026-01-05T00:00:00.000Z, 不晚于 2026-01-05T00:00:00.001Z',
    });
    expect(scheduleWords(intervalSchedule(1, startAt)).description.en).toMatch(/^Every second, /);
    expect(scheduleWords({ type: 'once', runAt: startAt }).description.en).toBe(
      'Once, at 2026-01-05T00:00:00.000Z',
    );
  });
});

describe('warnings', () => {
  it.each([
    ['0 9 ? * 2-6', 'so "2-6" is TUE, WED, THU, FRI, SAT:'],
    ['0 9 ? * 6L', 'so "6L" is the last SAT:'],
    ['0 9 ? * 2#1', 'so "2#1" is TUE number 1:'],
    ['0 9 ? * MON,7', 'so "7" is SUN:'],
  ])('of "?" with numbers of weekdays, as in Quartz: %s', (expr, meant) => {
    expect(warningsOf(expr)).toEqual([expect.stringContaining(meant) as string]);
    expect(warningsOf(expr)[0]).toContain('"?" at position 5');
  });

  it.each(['0 9 ? * MON-FRI', '0 9 * * 2-6', '0 9 1 * ?', '0 9 ? * *', '0 9 ? * */1'])(
    'not of %s',
    (expr) => {
      expect(warningsOf(expr)).toEqual([]);
    },
  );

  it('not of Quartz, where numbers are right', () => {
    expect(warningsOf('0 0 9 ? * 2-6', QUARTZ)).toEqual([]);
  });

  it.each([
    ['*/7 * * * *', 'minute: "*/7" at position 1 does not divide 60: after 56 comes 0 again, 4 later'],
    ['*/45 * * * * *', 'second: "*/45" at position 1 does not divide 60: after 45 comes 0 again, 15 later'],
    ['0 3,*/5 * * *', 'hour: "*/5" at position 5 does not divide 24: after 20 comes 0 again, 4 later'],
    ['50/20 * * * *', 'after 50 comes 50 again, 60 later'],
    ['0 0 1 */5 *', 'month: "*/5" at position 7 does not divide 12: after 11 comes 1 again, 2 later'],
    ['0 0 * * */2', 'day of week: "*/2" at position 9 does not divide 7: after 6 comes 0 again, 1 later'],
    ['0 0 */2 * *', 'day of month: "*/2" at position 5 begins anew at 1 in every month'],
    ['0 9-17/3 * * *', 'hour: "9-17/3" at position 3 never reaches 17: the last value is 15'],
  ])('of a step that does not divide its range: %s', (expr, warning) => {
    expect(warningsOf(expr)).toEqual([expect.stringContaining(warning) as string]);
  });

  it.each([
    '*/15 * * * *',
    '5/20 * * * *',
    '0 9-17/2 * * *',
    '0 */6 1 */3 *',
    '0-59/10 * * * *',
    '10-40/15 * * * *',
  ])('not of %s', (expr) => {
    expect(warningsOf(expr)).toEqual([]);
  });
});
