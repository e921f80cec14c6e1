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

const dates = async (...args: Parameters<typeof days>) =>
  (await days(...args)).holidays.map(({ date }) => date);

describe('the holidays of a country', async () => {
  it('are those of its state and region, in the asked language', async () => {
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
    expect(await dates('DE', { state: 'BY' })).toEqual(bavaria.map((day) => `2026-${day}`));
    expect(await dates('DE')).not.toContain('2026-01-06');
    expect(await dates('DE', { state: 'BY', region: 'A' })).toContain('2026-08-08');
    const [newYear] = (await days('DE', { language: 'en' })).holidays;
    expect(newYear).toEqual({ date: '2026-01-01', name: "New Year's Day" });
    expect((await days('DE')).workdays).toEqual([]);
  });

  it('have the days that stand in for those on a weekend, also those of a day in another year', async () => {
    expect(await dates('US', { years: [2021] })).toEqual(
      expect.arrayContaining(['2021-06-18', '2021-07-05', '2021-12-24', '2021-12-31']),
    );
    expect(await dates('GB', { state: 'ENG', years: [2027] })).toEqual(
      expect.arrayContaining(['2027-12-27', '2027-12-28']),
    );
    expect(await dates('JP')).toContain('2026-05-06');
  });

  it('from sunset to sunset are the day between them', async () => {
    // Passover's first day is 2 April, from the evening of the first; Yom Kippur 21 September.
    expect(await dates('IL')).toEqual(expect.arrayContaining(['2026-04-02', '2026-09-21']));
    expect(await dates('IL')).not.toContain('2026-04-01');
    expect(await dates('IL')).not.toContain('2026-09-20');
  });

  it('that last several days are each of them; an eve of half a day is worked', async () => {
    // Ramazan Bayramı: three days after an eve from noon on.
    const march = (await dates('TR')).filter((date) => date.startsWith('2026-03'));
    expect(march).toEqual(['2026-03-20', '2026-03-21', '2026-03-22']);
    const newYearInVietnam = (await dates('VN')).filter((date) => date.startsWith('2026-02'));
    expect(newYearInVietnam).toHaveLength(5);
  });

  it('that begin at noon are worked, and those of the year before reach into the first one', async () => {
    expect(await dates('GT')).not.toContain('2026-12-24');
    expect((await dates('SZ')).slice(0, 3)).toEqual(['2026-01-01', '2026-01-02', '2026-04-03']);
  });

  it('are of the asked types', async () => {
    expect(await dates('DE', { holidayTypes: ['public', 'observance'] })).toContain('2026-05-10');
  });

  it('are known to the end of the last asked year', async () => {
    expect((await days('FR', { years: [2027, 2026] })).knownUntil).toBe('2027-12-31');
  });

  it.each([
    ['XX', {}, /country: "XX" is not known; .*use one of AD, AE/],
    ['de', {}, /country: "de" is not known; did you mean "DE"\?/],
    ['DE', { state: 'XY' }, /state: "XY" is not known; .*BB, BE, BW, BY/],
    ['DE', { state: 'BY', region: 'X' }, /region: "X" is not known; .*KATH, EVANG/],
    ['DE', { region: 'A' }, /region: needs a state/],
    ['FI', { state: 'X' }, /state: is not possible: none is known there; leave it out/],
    ['SA', { years: [2077] }, /years: 2077 is not known; use years from 1970 to 2076/],
    ['SA', { years: [1969, 1970] }, /years: 1969 is not known/],
    ['US', { years: [2026, 2028] }, /leaves out 2027/],
    ['US', { holidayTypes: ['school'] }, /types: match no holiday there/],
  ] as const)('%s with %j is refused', async (country, options, message) => {
    await expect(days(country, options)).rejects.toThrow(message);
  });
});
