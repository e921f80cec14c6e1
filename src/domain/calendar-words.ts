import { type CalendarRule, type CalendarShift, type CalendarUse, type Exclusion } from './calendar-use.js';
import { type Words } from './cron/cron-words.js';

/** Why a slot does not fire, as a sentence without its end. */
export function exclusionWords({ by, date, dayName, name, version, rule }: Exclusion): string {
  const day = dayName === null ? date : `${date} (${dayName})`;
  const what = by === 'day' ? day : `this time of the day on ${day}`;
  return `${what} is left out by version ${version} of calendar ${name}, rule ${rule}`;
}

/** The same by snake_case name. */
export const exclusionEvidence = ({ by, date, dayName, name, version, rule }: Exclusion) => ({
  calendar: name,
  calendar_version: version,
  calendar_rule: rule,
  excluded_by: by,
  excluded_date: date,
  day_name: dayName,
});

/** Where a slot comes from whose day was shifted. */
export const movedWords = (from: string, { days, shift }: CalendarUse): string =>
  `moved from ${from} by calendar ${days.calendar.name} (${shift})`;

const RULES: Readonly<Record<CalendarRule, (name: string) => Words>> = {
  workdays: (name) => ({
    en: `, only on working days of calendar ${name}`,
    zh: `, 仅在日历 ${name} 的工作日`,
  }),
  holidays: (name) => ({ en: `, only on holidays of calendar ${name}`, zh: `, 仅在日历 ${name} 的节假日` }),
  skip_holidays: (name) => ({
    en: `, not on holidays of calendar ${name}`,
    zh: `, 日历 ${name} 的节假日除外`,
  }),
};
const SHIFTS: Readonly<Record<CalendarShift, Words>> = {
  none: { en: '', zh: '' },
  next_workday: { en: ', else on the next working day', zh: ', 否则顺延至下一个工作日' },
  previous_workday: { en: ', else on the last working day before', zh: ', 否则提前至上一个工作日' },
};

/** What a calendar does to the description of a schedule, to follow it. */
export function calendarWords(use: CalendarUse | null): Words {
  if (use === null) return { en: '', zh: '' };
  const rule = RULES[use.rule](use.days.calendar.name);
  const shift = SHIFTS[use.shift];
  return { en: rule.en + shift.en, zh: rule.zh + shift.zh };
}
