import { describe, expect, it } from 'vitest';
import { calendarProblems } from '../../src/domain/calendar.js';
import { InvalidInput } from '../../src/domain/errors.js';
import {
  type CalendarSource,
  type DaysSource,
  DEFAULT_WORKDAY_WORDS,
} from '../../src/ports/calendar-source.js';

const ICS = 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20260501\nEND:VEVENT\nEND:VCALENDAR';

const china: DaysSource = { type: 'china', years: [2026] };
const country: DaysSource = {
  type: 'country',
  country: 'DE',
  state: null,
  region: null,
  holidayTypes: ['public'],
  language: null,
  years: [2026],
};
const ics: DaysSource = {
  type: 'ics',
  text: ICS,
  years: null,
  workdayWords: DEFAULT_WORKDAY_WORDS,
  ignoreWords: [],
};

/** `create` gives a source whose clock is in 2026. */
export function calendarSourceSuite(name: string, create: () => CalendarSource): void {
  describe(`CalendarSource: ${name}`, () => {
    it.each([china, country, ics])(
      '$type: gives days that a calendar takes, in order, and how long they are known',
      async (source) => {
        const days = await create().daysOf(source);
        const dates = days.holidays.map(({ date }) => date);
        expect(dates).toContain('2026-05-01');
        expect(dates).toEqual(dates.toSorted());
        expect(days.knownUntil).toBe('2026-12-31');
        expect(
          calendarProblems({ name: 'x', description: '', weekend: [], excludedTimes: [], ...days }),
        ).toEqual([]);
      },
    );

    it.each([
      { ...china, years: [1999] },
      { ...country, country: 'XX' },
      { ...ics, text: 'junk' },
    ])('$type: refuses what it cannot answer', async (source) => {
      await expect(create().daysOf(source)).rejects.toBeInstanceOf(InvalidInput);
    });

    it('fills what returns yearly from the year of its clock on', async () => {
      const yearly = { ...ics, text: ICS.replace('\nEND:VEVENT', '\nRRULE:FREQ=YEARLY\nEND:VEVENT') };
      const { holidays, knownUntil } = await create().daysOf(yearly);
      expect(holidays.map(({ date }) => date.slice(0, 4))).toEqual(['2026', '2027', '2028', '2029', '2030']);
      expect(knownUntil).toBe('2030-12-31');
    });
  });
}
