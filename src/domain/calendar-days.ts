import { type Calendar, dayNumberOf, secondOfDay } from './calendar.js';

/** A shift goes no further than this from a day; a workday that is further off is none. */
export const MAX_SHIFT_DAYS = 366;

/** Times of a day, ms from midnight; `to` is exclusive. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** A calendar made ready for questions. Days are counted from 1970-01-01 (`dayNumberOf`). */
export class CalendarDays {
  /** In order, without overlaps. */
  readonly excludedTimes: readonly TimeSpan[];
  private readonly weekend: ReadonlySet<number>;
  private readonly holidays: ReadonlyMap<number, string | null>;
  private readonly extra: ReadonlyMap<number, string | null>;
  private readonly firstExtra: number;
  private readonly lastExtra: number;

  constructor(readonly calendar: Calendar) {
    this.weekend = new Set(calendar.weekend);
    this.holidays = daysOf(calendar.holidays);
    this.extra = daysOf(calendar.workdays);
    const worked = [...this.extra.keys()].sort((a, b) => a - b);
    this.firstExtra = worked[0] ?? Infinity;
    this.lastExtra = worked.at(-1) ?? -Infinity;
    this.excludedTimes = merged(
      calendar.excludedTimes.map(({ from, to }) => ({ from: msOf(from), to: msOf(to) })),
    );
  }

  isHoliday(day: number): boolean {
    return this.holidays.has(day);
  }

  /** An extra working day, or neither a weekend day nor a holiday. */
  isWorkday(day: number): boolean {
    return this.extra.has(day) || !(this.weekend.has(weekdayOf(day)) || this.holidays.has(day));
  }

  /** What a listed day is called; null if it is not listed or has no name. */
  nameOf(day: number): string | null {
    return this.holidays.get(day) ?? this.extra.get(day) ?? null;
  }

  /** The first workday from `day` on, itself too, forwards (1) or backwards (-1); null if there is none within MAX_SHIFT_DAYS. */
  workdayFrom(day: number, direction: 1 | -1): number | null {
    const hasWeekdays = this.weekend.size < 7;
    for (let steps = 0, at = day; steps <= MAX_SHIFT_DAYS; steps++, at += direction) {
      if (this.isWorkday(at)) return at;
      if (!hasWeekdays && (direction > 0 ? at > this.lastExtra : at < this.firstExtra)) return null;
    }
    return null;
  }
}

const daysOf = (days: Calendar['holidays']): Map<number, string | null> =>
  new Map(days.map(({ date, name }) => [dayNumberOf(date) ?? NaN, name]));

const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7;

const msOf = (time: string): number => (secondOfDay(time) ?? 0) * 1000;

function merged(spans: readonly TimeSpan[]): TimeSpan[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}
