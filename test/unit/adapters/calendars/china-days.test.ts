import { describe, expect, it } from 'vitest';
import { chinaDays } from '../../../../src/adapters/calendars/china-days.js';
import { InvalidInput } from '../../../../src/domain/errors.js';

const days = (...years: readonly number[]) => chinaDays({ type: 'china', years });

describe('the calendar of mainland China', () => {
  it('has the holidays and the make-up days of a year, with their names, and is known to its end', () => {
    const { holidays, workdays, knownUntil } = days(2025);
    // The State Council's notice for 2025 (国办发明电〔2024〕12号): 28 days off, and five worked weekend days.
    expect(holidays.map(({ date }) => date)).toEqual([
      '2025-01-01',
      ...[28, 29, 30, 31].map((day) => `2025-01-${day}`),
      ...[1, 2, 3, 4].map((day) => `2025-02-0${day}`),
      ...[4, 5, 6].map((day) => `2025-04-0${day}`),
      ...[1, 2, 3, 4, 5].map((day) => `2025-05-0${day}`),
      ...['2025-05-31', '2025-06-01', '2025-06-02'],
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((day) => `2025-10-0${day}`),
    ]);
    expect(workdays).toEqual([
      { date: '2025-01-26', name: '春节 (Spring Festival)' },
      { date: '2025-02-08', name: '春节 (Spring Festival)' },
      { date: '2025-04-27', name: '劳动节 (Labour Day)' },
      { date: '2025-09-28', name: '国庆节 (National Day)' },
      { date: '2025-10-11', name: '国庆节 (National Day)' },
    ]);
    expect(knownUntil).toBe('2025-12-31');
  });

  it('has several years', () => {
    const { holidays, knownUntil } = days(2025, 2026);
    expect(holidays).toEqual([...days(2025).holidays, ...days(2026).holidays]);
    expect(knownUntil).toBe('2026-12-31');
  });

  it.each([
    [[2003]],
    [[2025, 2026, 2027, 2028, 2029, 2030, 2031, 2032, 2033, 2034, 2035, 2036, 2037, 2038, 2039, 2040]],
  ])('refuses a year that is not announced, and names those that are: %j', (years) => {
    expect(() => days(...years)).toThrow(InvalidInput);
    expect(() => days(...years)).toThrow(/years: \d+ is not known; use years from 2004 to 20\d\d/);
  });

  it('refuses a gap', () => {
    expect(() => days(2024, 2026)).toThrow(/leaves out 2025/);
  });
});
