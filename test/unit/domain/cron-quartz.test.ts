import { describe, expect, it } from 'vitest';
import { cronOf, slotsAfter } from './cron-of.js';

const FROM = Date.UTC(2026, 0, 1);
const firesOf = (expr: string, n: number, from = FROM) =>
  slotsAfter(cronOf(expr, 'UTC', { dialect: 'quartz' }), from, n).map((slot) =>
    new Date(slot).toISOString().slice(0, 16),
  );

describe('expressions of Quartz', () => {
  it.each([
    ['1 is Sunday', '0 0 9 ? * 1', ['2026-01-04T09:00', '2026-01-11T09:00']],
    ['7 is Saturday', '0 0 9 ? * 7', ['2026-01-03T09:00', '2026-01-10T09:00']],
    ['names are names', '0 0 9 ? * fri', ['2026-01-02T09:00', '2026-01-09T09:00']],
    ['6L is the last Friday', '0 0 9 ? * 6L', ['2026-01-30T09:00', '2026-02-27T09:00']],
    ['6#3 is the third Friday', '0 0 9 ? * 6#3', ['2026-01-16T09:00', '2026-02-20T09:00']],
    ['L is Saturday', '0 0 9 ? * L', ['2026-01-03T09:00', '2026-01-10T09:00']],
    ['five fields leave the second out', '0 9 ? * 2', ['2026-01-05T09:00', '2026-01-12T09:00']],
    ['hours wrap', '0 0 22-1 ? * 1', ['2026-01-04T00:00', '2026-01-04T01:00', '2026-01-04T22:00']],
    ['a step goes on over the end', '0 0 21-3/3 * * ?', ['2026-01-01T03:00', '2026-01-01T21:00']],
    [
      'weekdays wrap',
      '0 0 9 ? * FRI-MON',
      ['2026-01-02T09:00', '2026-01-03T09:00', '2026-01-04T09:00', '2026-01-05T09:00', '2026-01-09T09:00'],
    ],
    [
      'months wrap',
      '0 0 0 1 NOV-FEB ?',
      ['2026-02-01T00:00', '2026-11-01T00:00', '2026-12-01T00:00', '2027-01-01T00:00'],
    ],
    ['days wrap', '0 0 0 31-2 1 ?', ['2026-01-02T00:00', '2026-01-31T00:00', '2027-01-01T00:00']],
    [
      'years are listed',
      '0 0 0 1 1 ? 2028,2030-2032/2',
      ['2028-01-01T00:00', '2030-01-01T00:00', '2032-01-01T00:00'],
    ],
  ])('%s: %s', (_, expr, expected) => {
    expect(firesOf(expr, expected.length)).toEqual(expected);
  });

  it('end with their years, and begin with them backwards', () => {
    const cron = cronOf('0 0 0 1 1 ? 2027-2029', 'America/New_York', { dialect: 'quartz' });
    expect(slotsAfter(cron, FROM, 10)).toEqual(
      [2027, 2028, 2029].map((year) => Date.parse(`${year}-01-01T00:00:00-05:00`)),
    );
    expect(cron.next(Date.UTC(2029, 0, 2))).toBeNull();
    expect(cron.previous(Date.UTC(2060, 0))).toBe(Date.parse('2029-01-01T00:00:00-05:00'));
    expect(cron.previous(Date.UTC(2026, 0))).toBeNull();
    expect(firesOf('0 0 0 1 1 ? 2099', 5)).toEqual(['2099-01-01T00:00']);
  });

  it('fire in the second pass of the last hour that they have', () => {
    const rule = { dialect: 'quartz', dstOverlap: 'both' } as const;
    const cron = cronOf('0 30 1 1 11 ? 2026', 'America/New_York', rule);
    expect(slotsAfter(cron, FROM, 5)).toEqual([
      Date.parse('2026-11-01T01:30:00-04:00'),
      Date.parse('2026-11-01T01:30:00-05:00'),
    ]);
  });
});
