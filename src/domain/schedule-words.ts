import { calendarWords } from './calendar-words.js';
import { cronWarnings } from './cron/cron-warnings.js';
import { cronWords, type Words } from './cron/cron-words.js';
import { parseCronText } from './cron/parse-cron-text.js';
import { type ChangeNote } from './cron/zoned-pattern.js';
import { type Schedule } from './schedule.js';

/** What was understood of a schedule, and what of it is rarely meant. */
export interface ScheduleWords {
  readonly description: Words;
  readonly warnings: readonly string[];
}

const UNITS: readonly (readonly [seconds: number, en: string, zh: string])[] = [
  [86_400, 'day', '天'],
  [3600, 'hour', '小时'],
  [60, 'minute', '分钟'],
  [1, 'second', '秒'],
];

/** The words for a schedule that is in order. */
export function scheduleWords(schedule: Schedule): ScheduleWords {
  switch (schedule.type) {
    case 'once': {
      const at = instantText(schedule.runAt);
      return { description: { en: `Once, at ${at}`, zh: `仅一次, 于 ${at}` }, warnings: [] };
    }
    case 'interval': {
      const from = instantText(schedule.anchorAt);
      const every = everyWords(schedule.everySec);
      const description = {
        en: `${every.en}, counted from ${from}`,
        zh: `${every.zh}, 从 ${from} 起算`,
      };
      return { description: bounded(description, schedule), warnings: [] };
    }
    case 'cron': {
      const { fields } = parseCronText(schedule.expr, schedule.dialect);
      if (fields === null) return { description: { en: schedule.expr, zh: schedule.expr }, warnings: [] };
      const { en, zh } = cronWords(fields);
      const { timezone } = schedule;
      const days = calendarWords(schedule.calendar);
      const description = bounded(
        { en: `${en}, ${timezone}${days.en}`, zh: `${zh}, ${timezone}${days.zh}` },
        schedule,
      );
      return { description, warnings: cronWarnings(fields, schedule.dialect) };
    }
  }
}

function everyWords(everySec: number): Words {
  const [seconds, en, zh] = UNITS.find(([size]) => everySec % size === 0) as (typeof UNITS)[number];
  const n = everySec / seconds;
  return { en: n === 1 ? `Every ${en}` : `Every ${n} ${en}s`, zh: `每隔 ${n} ${zh}` };
}

function bounded(
  { en, zh }: Words,
  { startAt, endAt, jitterSec }: Exclude<Schedule, { readonly type: 'once' }>,
): Words {
  const from = startAt === null ? null : instantText(startAt);
  const to = endAt === null ? null : instantText(endAt);
  return {
    en:
      en +
      (jitterSec === 0 ? '' : `, each up to ${jitterSec} s later`) +
      (from === null ? '' : `, not before ${from}`) +
      (to === null ? '' : `, not after ${to}`),
    zh:
      zh +
      (jitterSec === 0 ? '' : `, 每次推迟至多 ${jitterSec} 秒`) +
      (from === null ? '' : `, 不早于 ${from}`) +
      (to === null ? '' : `, 不晚于 ${to}`),
  };
}

/** What a change of the clocks has to do with one fire time. */
export function changeWords(note: ChangeNote): string {
  const wall = instantText(note.wall).slice(0, -5).replace('T', ' ');
  switch (note.kind) {
    case 'after_gap':
      return `${wall} does not exist, as clocks are put forward: it fires at the first instant after the gap`;
    case 'first_pass':
      return `${wall} comes twice, as clocks are put back: this is the first time`;
    case 'second_pass':
      return `${wall} comes twice, as clocks are put back: this is the second time`;
  }
}

const instantText = (instant: number): string => new Date(instant).toISOString();
