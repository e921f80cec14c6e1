import { type ValueSet } from './value-set.js';

const DAY_SEC = 86_400;

/** Dates, as days from 1970-01-01. */
export interface Dates {
  /** The first at or after a day; null if there is none. */
  atOrAfter(day: number): number | null;
  /** The last at or before a day; null if there is none. */
  atOrBefore(day: number): number | null;
}

/** The wall times that an expression matches, whole seconds, written as epoch ms of a clock in UTC. */
export class WallPattern {
  constructor(
    private readonly seconds: ValueSet,
    private readonly minutes: ValueSet,
    private readonly hours: ValueSet,
    private readonly dates: Dates,
  ) {}

  /** The first match at or after a wall time, null if there is none. */
  atOrAfter(wall: number): number | null {
    const total = Math.ceil(wall / 1000);
    const today = Math.floor(total / DAY_SEC);
    const time = this.timeAtOrAfter(total - today * DAY_SEC);
    const day = this.dates.atOrAfter(time < 0 ? today + 1 : today);
    if (day === null) return null;
    return (day * DAY_SEC + (day === today ? time : this.timeAtOrAfter(0))) * 1000;
  }

  /** The last match at or before a wall time, null if there is none. */
  atOrBefore(wall: number): number | null {
    const total = Math.floor(wall / 1000);
    const today = Math.floor(total / DAY_SEC);
    const time = this.timeAtOrBefore(total - today * DAY_SEC);
    const day = this.dates.atOrBefore(time < 0 ? today - 1 : today);
    if (day === null) return null;
    return (day * DAY_SEC + (day === today ? time : this.timeAtOrBefore(DAY_SEC - 1))) * 1000;
  }

  /** A match in `[from, to)`, the first one; null if there is none. */
  within(from: number, to: number): number | null {
    const match = this.atOrAfter(from);
    return match !== null && match < to ? match : null;
  }

  /** Second of the day; -1 if there is none left. */
  private timeAtOrAfter(time: number): number {
    const { hours, minutes, seconds } = this;
    const hour = Math.trunc(time / 3600);
    const minute = Math.trunc(time / 60) % 60;
    if (hours.has(hour)) {
      const second = minutes.has(minute) ? seconds.atOrAfter(time % 60) : -1;
      if (second >= 0) return hour * 3600 + minute * 60 + second;
      const later = minutes.atOrAfter(minute + 1);
      if (later >= 0) return hour * 3600 + later * 60 + seconds.first;
    }
    const later = hours.atOrAfter(hour + 1);
    return later < 0 ? -1 : later * 3600 + minutes.first * 60 + seconds.first;
  }

  private timeAtOrBefore(time: number): number {
    const { hours, minutes, seconds } = this;
    const hour = Math.trunc(time / 3600);
    const minute = Math.trunc(time / 60) % 60;
    if (hours.has(hour)) {
      const second = minutes.has(minute) ? seconds.atOrBefore(time % 60) : -1;
      if (second >= 0) return hour * 3600 + minute * 60 + second;
      const earlier = minutes.atOrBefore(minute - 1);
      if (earlier >= 0) return hour * 3600 + earlier * 60 + seconds.last;
    }
    const earlier = hours.atOrBefore(hour - 1);
    return earlier < 0 ? -1 : earlier * 3600 + minutes.last * 60 + seconds.last;
  }
}
