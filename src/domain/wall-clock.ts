const DAY_MS = 86_400_000;

/**
 * What clocks show in one time zone. A wall time is written as the epoch ms at which clocks in UTC show the same date and time.
 * Two changes of the offset are taken to be days apart, as in all zones since 1970.
 */
export class WallClock {
  private readonly format: Intl.DateTimeFormat;
  private readonly isUtc: boolean;

  /** @throws RangeError if the runtime does not know the zone. */
  constructor(timezone: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    this.isUtc = this.format.resolvedOptions().timeZone === 'UTC';
  }

  at(instant: number): number {
    return instant + this.offsetMs(instant);
  }

  /** Wall time minus instant. */
  offsetMs(instant: number): number {
    if (this.isUtc) return 0;
    const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.format.formatToParts(instant)) shown[type] = Number(value);
    const { year = NaN, month = NaN, day, hour, minute, second } = shown;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
  }

  /** The first instant in `(from, to]` at which the offset of `from` has ended; null if `to` has that offset. */
  changeBetween(from: number, to: number): number | null {
    const offset = this.offsetMs(from);
    if (this.offsetMs(to) === offset) return null;
    let before = from;
    let after = to;
    while (after - before > 1) {
      const middle = before + Math.floor((after - before) / 2);
      if (this.offsetMs(middle) === offset) before = middle;
      else after = middle;
    }
    return after;
  }

  /** The latest wall time shown up to an instant: in the second pass of a repeated hour that is the end of the first. */
  latestUpTo(instant: number): number {
    const change = this.changeBetween(instant - DAY_MS, instant);
    return change === null ? this.at(instant) : Math.max(this.at(instant), this.at(change - 1));
  }

  /** The first instant at which clocks show a wall time; the end of the gap if they never do. */
  firstShowing(wall: number): number {
    const change = this.changeBetween(wall - DAY_MS, wall + DAY_MS);
    const byOldOffset = wall - this.offsetMs(wall - DAY_MS);
    if (change === null || byOldOffset < change) return byOldOffset;
    return Math.max(change, wall - this.offsetMs(change));
  }
}
