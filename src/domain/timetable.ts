import { type Exclusion } from './calendar-use.js';
import { type FireTimes, type Schedule } from './schedule.js';

/** A schedule that was replaced while a slot of it was due and undecided. */
export interface FormerSchedule {
  readonly schedule: Schedule;
  /** The edit, epoch ms: slots up to here, inclusive, are still those of this schedule. */
  readonly until: number;
}

/** When a task fires: by each of the `former` schedules up to its edit, oldest first, and by `schedule` after the last edit. */
export interface Timetable {
  readonly schedule: Schedule;
  readonly former: readonly FormerSchedule[];
}

/** The longest jitter of any slot, ms. */
export const longestJitterMs = ({ schedule, former }: Timetable): number =>
  Math.max(
    ...[schedule, ...former.map((part) => part.schedule)].map((one) =>
      one.type === 'once' ? 0 : one.jitterSec * 1000,
    ),
  );

interface Part {
  readonly schedule: Schedule;
  /** Epoch ms; the first is exclusive, the second inclusive. */
  readonly since: number;
  readonly until: number;
}

/** The slots of one task across its edits: no slot of a schedule after its edit, none of the next one before. */
export class TaskSlots {
  private readonly parts: readonly Part[];

  constructor(
    { schedule, former }: Timetable,
    private readonly times: FireTimes,
  ) {
    const sinceOf = (index: number) => former[index - 1]?.until ?? -Infinity;
    this.parts = [
      ...former.map((part, i) => ({ ...part, since: sinceOf(i) })),
      { schedule, since: sinceOf(former.length), until: Infinity },
    ];
  }

  /** The first slot strictly after `after`, epoch ms; null if there is none. */
  next(after: number): number | null {
    for (const { schedule, since, until } of this.parts) {
      if (after >= until) continue;
      const slot = this.times.next(schedule, Math.max(after, since));
      if (slot !== null && slot <= until) return slot;
    }
    return null;
  }

  /** The last slot at or before `instant`, epoch ms; null if there is none. */
  previous(instant: number): number | null {
    for (const { schedule, since, until } of this.parts.toReversed()) {
      if (instant <= since) continue;
      const slot = this.times.previous(schedule, Math.min(instant, until));
      if (slot !== null && slot > since) return slot;
    }
    return null;
  }

  /** Why a calendar excludes a slot: it is decided, and does not fire; null if it does. */
  exclusionOf(slot: number): Exclusion | null {
    return this.times.exclusionOf(this.partOf(slot).schedule, slot);
  }

  /** The first slot in `(after, until]` that no calendar excludes, epoch ms; null if there is none, or none is found in years. */
  nextFiring(after: number, until = Infinity): number | null {
    for (const part of this.parts) {
      const [from, to] = [Math.max(after, part.since), Math.min(until, part.until)];
      const slot = from >= to ? null : this.times.nextFiring(part.schedule, from, to);
      if (slot !== null) return slot;
    }
    return null;
  }

  /** The last slot in `[since, instant]` that no calendar excludes, epoch ms; null if there is none. */
  previousFiring(instant: number, since: number): number | null {
    for (const part of this.parts.toReversed()) {
      const [from, to] = [Math.max(since, part.since + 1), Math.min(instant, part.until)];
      const slot = from > to ? null : this.times.previousFiring(part.schedule, to, from);
      if (slot !== null) return slot;
    }
    return null;
  }

  /** The first slot in `(after, until]` that a calendar excludes, epoch ms; null if there is none. */
  nextExcluded(after: number, until: number): number | null {
    for (const part of this.parts) {
      const [from, to] = [Math.max(after, part.since), Math.min(until, part.until)];
      const slot = from >= to ? null : this.times.nextExcluded(part.schedule, from, to);
      if (slot !== null) return slot;
    }
    return null;
  }

  /** How much later than at its time a slot may fire, ms. */
  jitterMsOf(slot: number): number {
    const { schedule } = this.partOf(slot);
    return schedule.type === 'once' ? 0 : schedule.jitterSec * 1000;
  }

  /** How many slots lie in `[from, to]`, where both ends are slots; null if counting them takes too long. */
  count(from: number, to: number): number | null {
    let total = 0;
    for (let first: number | null = from; first !== null && first <= to;) {
      const { schedule, until } = this.partOf(first);
      const last = until >= to ? to : Math.max(first, this.times.previous(schedule, until) ?? first);
      const count = this.times.count(schedule, first, last);
      if (count === null) return null;
      total += count;
      first = until >= to ? null : this.next(until);
    }
    return total;
  }

  private partOf(slot: number): Part {
    return this.parts.find(({ until }) => slot <= until) as Part;
  }
}
