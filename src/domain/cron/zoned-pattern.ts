import { type Stretch, type TimeZone } from './time-zone.js';
import { type WallPattern } from './wall-pattern.js';

/** What becomes of wall times that a change of the clocks leaves out or shows twice. */
export interface ChangeRule {
  /** A wall time that is left out fires at the first instant after the gap. */
  readonly catchesUp: boolean;
  readonly passes: 'first' | 'second' | 'both';
}

/** What a slot has to do with a change of the clocks; `wall` is what it stands for (as in TimeZone), left out or shown twice. */
export interface ChangeNote {
  readonly kind: 'after_gap' | 'first_pass' | 'second_pass';
  readonly wall: number;
}

/** Longer than clocks ever were put forward or back (24 hours), also twice in a row. */
const FAR_MS = 2 * 86_400_000;
/** After this many years the calendar and every rule of the clocks have begun anew. */
const HORIZON_MS = 401 * 366 * 86_400_000;

/**
 * The instants at which clocks of a zone show what a pattern matches. A search asks the pattern once for each stretch of equal offset
 * that it meets, and leaps over those in which nothing can match.
 */
export class ZonedPattern {
  constructor(
    private readonly pattern: WallPattern,
    private readonly zone: TimeZone,
    private readonly rule: ChangeRule,
  ) {}

  /** The first slot after `after`, epoch ms; null if there is none. */
  next(after: number): number | null {
    let from = after + 1;
    let stretch = this.zone.stretchAt(from);
    while (stretch.start < after + HORIZON_MS) {
      const { start, end, offsetMs } = stretch;
      if (from <= start && this.missingBefore(stretch) !== null) return start;
      const first = Math.max(from, this.firstOf(stretch));
      const wall = this.pattern.atOrAfter(first + offsetMs) ?? Infinity;
      const slot = wall - offsetMs;
      if (slot < this.endOf(stretch)) return slot;
      // Only shortly after `first` may clocks go back to what was looked at already.
      const mayLeap = end - first > FAR_MS;
      if (mayLeap && slot === Infinity) return null;
      from = mayLeap ? Math.max(end, slot - FAR_MS) : end;
      stretch = this.zone.stretchAt(from);
    }
    return null;
  }

  /** The last slot up to `instant`, epoch ms; null if there is none. */
  previous(instant: number): number | null {
    let until = instant;
    let stretch = this.zone.stretchAt(until);
    while (stretch.end > instant - HORIZON_MS) {
      const { start, offsetMs } = stretch;
      const last = Math.min(until, this.endOf(stretch) - 1);
      const wall = this.pattern.atOrBefore(last + offsetMs) ?? -Infinity;
      const slot = wall - offsetMs;
      if (slot >= this.firstOf(stretch)) return slot;
      if (this.missingBefore(stretch) !== null) return start;
      const mayLeap = last - start > FAR_MS;
      if (mayLeap && slot === -Infinity) return null;
      until = mayLeap ? Math.min(start - 1, slot + FAR_MS) : start - 1;
      stretch = this.zone.stretchAt(until);
    }
    return null;
  }

  /** What a change of the clocks has to do with a slot; null if nothing. */
  noteOf(slot: number): ChangeNote | null {
    const stretch = this.zone.stretchAt(slot);
    const wall = slot + stretch.offsetMs;
    const missing = slot === stretch.start ? this.missingBefore(stretch) : null;
    if (missing !== null) return { kind: 'after_gap', wall: missing };
    if (slot < stretch.repeatsUntil) return { kind: 'second_pass', wall };
    return slot >= stretch.repeatedFrom ? { kind: 'first_pass', wall } : null;
  }

  /** The first wall time that is left out at the start of a stretch and made up for there; null if there is none. */
  private missingBefore({ start, offsetMs, gapMs }: Stretch): number | null {
    if (!this.rule.catchesUp || gapMs === 0) return null;
    return this.pattern.within(start + offsetMs - gapMs, start + offsetMs);
  }

  private firstOf({ start, repeatsUntil }: Stretch): number {
    return this.rule.passes === 'first' ? Math.max(start, repeatsUntil) : start;
  }

  /** Exclusive. */
  private endOf({ end, repeatedFrom }: Stretch): number {
    return this.rule.passes === 'second' ? Math.min(end, repeatedFrom) : end;
  }
}
