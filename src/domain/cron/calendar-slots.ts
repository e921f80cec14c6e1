import { type CalendarUse, type Exclusion } from '../calendar-use.js';
import { dateOfDay } from '../calendar.js';
import { type ShiftedDates } from './shifted-dates.js';
import { type TimeZone } from './time-zone.js';
import { type ZonedPattern } from './zoned-pattern.js';

/** A search gives up after so many stretches of slots (thirteen years, where each day has its own), and so far away. */
const MAX_STRETCHES = 5000;
const HORIZON_MS = 40 * 366 * 86_400_000;
const DAY_MS = 86_400_000;

/** Which slots to look for, from where and how far (epoch ms, inclusive). */
export interface SlotSearch {
  readonly from: number;
  readonly to: number;
  readonly direction: 1 | -1;
  readonly isExcluded: boolean;
}

/** Tells the slots of one cron rule that its calendar excludes from those that fire. */
export class CalendarSlots {
  constructor(
    private readonly slots: ZonedPattern,
    private readonly zone: TimeZone,
    private readonly use: CalendarUse,
    /** Null: nothing is shifted. */
    private readonly shifted: ShiftedDates | null,
  ) {}

  /** Why a slot is excluded; null if it fires. */
  exclusionOf(slot: number): Exclusion | null {
    return this.use.exclusionAt(this.wallOf(slot));
  }

  /** The date `YYYY-MM-DD` that was moved to that of a slot; null if none was. */
  movedFrom(slot: number): string | null {
    const source = this.shifted?.sourceOf(Math.floor(this.wallOf(slot) / DAY_MS)) ?? null;
    return source === null ? null : dateOfDay(source);
  }

  /** The first such slot; null if there is none, or none is found within years. It leaps over slots of the other kind. */
  find({ from, to, direction, isExcluded }: SlotSearch): number | null {
    const reach = Math.min((to - from) * direction, HORIZON_MS);
    let slot = this.slotFrom(from, direction);
    for (let n = 0; n < MAX_STRETCHES && slot !== null && (slot - from) * direction <= reach; n++) {
      const { start, end, offsetMs } = this.zone.stretchAt(slot);
      const span = this.use.spanAt(slot + offsetMs);
      if ((span.excludedBy !== null) === isExcluded) return slot;
      const beyond =
        direction > 0 ? Math.min(span.to - offsetMs, end) : Math.max(span.from - offsetMs, start) - 1;
      slot = this.slotFrom(beyond, direction);
    }
    return null;
  }

  private slotFrom(instant: number, direction: 1 | -1): number | null {
    return direction > 0 ? this.slots.next(instant - 1) : this.slots.previous(instant);
  }

  private wallOf(slot: number): number {
    return slot + this.zone.stretchAt(slot).offsetMs;
  }
}
