import { describe, expect, it } from 'vitest';
import { countryDays } from '../../../../src/adapters/calendars/country-days.js';
import { type CountrySource } from '../../../../src/ports/calendar-source.js';

const days = (country: string, options: Partial<CountrySource> = {}) =>
  countryDays({
    type: 'country',
    country,
    state: null,
    region: null,
    holidayTypes: ['public'],
    language: null,
    years: [2026],
    ...options,
  });

const dates = (...args: Parameters<typeof days>) => days(...args).holidays.map(({ date }) => date);

describe('the holidays of a country', () => {
  it('are those of its state and region, in the asked language', () => {
    const bavaria = [
      '01-01',
      '01-06',
      '04-03',
      '04-06',
      '05-01',
      '05-14',
      '05-25',
      '06-04',
      '10-03',
      '11-01',
      '12-25',
      '12-26',
    ];
    expect(dates('DE', { state: 'BY' })).toEqual(bavaria.map((day) => `2026-${day}`));
    expect(dates('DE')).not.toContain('2026-01-06');
    expect(dates('DE', { state: 'BY', region: 'A' })).toContain('2026-08-08');
    const [newYear] = days('DE', { language: 'en' }).holidays;
    expect(newYear).toEqual({ date: '2026-01-01', name: "New Year's Day" });
    expect(days('DE').workdays).toEqual([]);
  });

  it('have the days that stand in for those on a weekend, also those of a day in another year', () => {
    expect(dates('US', { years: [2021] })).toEqual(
      expect.arrayContaining(['2021-06-18', '2021-07-05', '2021-12-24', '2021-12-31']),
    );
    expect(dates('GB', { state: 'ENG', years: [2027] })).toEqual(
      expect.arrayContaining(['2027-12-27', '2027-12-28']),
    );
    expect(dates('JP')).toContain('2026-05-06');
  });

  it('from sunset to sunset are the day between them', () => {
    // Passover's first day is 2 April, from the evening of the first; Yom Kippur 21 September.
    expect(dates('IL')).toEqual(expect.arrayContaining(['2026-04-02', '2026-09-21']));
    expect(dates('IL')).not.toContain('2026-04-01');
    expect(dates('IL')).not.toContain('2026-09-20');
  });

  it('that last several days are each of them; an eve of half a day is worked', () => {
    // Ramazan Bayramı: three days after an eve from noon on.
    const march = dates('TR').filter((date) => date.startsWith('2026-03'));
    expect(march).toEqual(['2026-03-20', '2026-03-21', '2026-03-22']);
    const newYearInVietnam = dates('VN').filter((date) => date.startsWith('2026-02'));
    expect(newYearInVietnam).toHaveLength(5);
  });

  it('are of the asked types', () => {
    expect(dates('DE', { holidayTypes: ['public', 'observance'] })).toContain('2026-05-10');
  });

  it('are known to the end of the last asked year', () => {
    expect(days('FR', { years: [2027, 2026] }).knownUntil).toBe('2027-12-31');
  });

  it.each([
    ['XX', {}, /source\.country: "XX" is not known; .*use one of AD, AE/],
    ['de', {}, /source\.country: "de" is not known; did you mean "DE"\?/],
    ['DE', { state: 'XY' }, /source\.state: "XY" is not known; .*BB, BE, BW, BY/],
    ['DE', { state: 'BY', region: 'X' }, /source\.region: "X" is not known; .*KATH, EVANG/],
    ['DE', { region: 'A' }, /source\.region: needs a state/],
    ['FI', { state: 'X' }, /source\.state: is not possible: none is known there; leave it out/],
    ['SA', { years: [2077] }, /source\.years: 2077 is not known; use years from 1970 to 2076/],
    ['SA', { years: [1969, 1970] }, /source\.years: 1969 is not known/],
    ['US', { years: [2026, 2028] }, /leaves out 2027/],
    ['US', { holidayTypes: ['school'] }, /source\.types: match no holiday there/],
  ] as const)('%s with %j is refused', (country, options, message) => {
    expect(() => days(country, options)).toThrow(message);
  });
});
