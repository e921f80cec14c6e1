import { type Beats, MINUTE_MS } from './beats.js';

/** A range in whole minutes; instants are epoch ms. */
export interface MinuteRange {
  /** Of its first minute. */
  readonly begin: number;
  readonly minutes: number;
}

/** What one minute holds at most, or several together. */
export interface LoadPoint {
  /** Epoch ms of the minute. */
  readonly at: number;
  readonly starts: number;
  readonly running: number;
}

/** How runs of one task follow each other. */
export interface RunShape {
  readonly durationMs: number;
  /** Never more at a time. */
  readonly maxAtOnce: number;
}

/** How many runs start in each minute, and how many are in progress at once at some moment of it. */
export class Load {
  readonly starts: Uint32Array;
  readonly running: Uint32Array;
  tasks = 0;

  constructor(private readonly range: MinuteRange) {
    this.starts = new Uint32Array(range.minutes);
    this.running = new Uint32Array(range.minutes);
  }

  get startsTotal(): number {
    return this.starts.reduce((sum, starts) => sum + starts, 0);
  }

  /** The first minute with the most runs at once, of those the one with the most starts; null if nothing runs. */
  get peak(): LoadPoint | null {
    let peak = 0;
    for (let minute = 1; minute < this.running.length; minute++) {
      const more = this.runningIn(minute) - this.runningIn(peak);
      if (more > 0 || (more === 0 && this.startsIn(minute) > this.startsIn(peak))) peak = minute;
    }
    return this.runningIn(peak) + this.startsIn(peak) === 0 ? null : this.point(peak, 1);
  }

  startsIn(minute: number): number {
    return this.starts[minute] ?? 0;
  }

  runningIn(minute: number): number {
    return this.running[minute] ?? 0;
  }

  add(minute: number, starts: number, running: number): void {
    this.starts[minute] = (this.starts[minute] as number) + starts;
    this.running[minute] = (this.running[minute] as number) + running;
  }

  /** In steps of so many minutes, those in which nothing happens left out: all starts of a step, and the most runs at once in it. */
  series(step: number): LoadPoint[] {
    const points: LoadPoint[] = [];
    for (let minute = 0; minute < this.range.minutes; minute += step) {
      const point = this.point(minute, step);
      if (point.starts + point.running > 0) points.push(point);
    }
    return points;
  }

  private point(minute: number, step: number): LoadPoint {
    let starts = 0;
    let running = 0;
    for (let i = minute; i < Math.min(minute + step, this.range.minutes); i++) {
      starts += this.startsIn(i);
      running = Math.max(running, this.runningIn(i));
    }
    return { at: this.range.begin + minute * MINUTE_MS, starts, running };
  }
}

/**
 * Adds the runs of one task to several loads. Two runs count as at once when they share a minute, but never more than the shape allows,
 * and never more than follow each other within one duration. What began before the range counts where it reaches into it. Returns the
 * number of minutes that have runs.
 */
export function addRuns(beats: Beats, shape: RunShape, range: MinuteRange, loads: readonly Load[]): number {
  const durationMs = Math.max(1, shape.durationMs);
  const atOnce = Math.min(shape.maxAtOnce, Math.max(1, Math.ceil(durationMs / beats.gapMs)));
  const { begin, minutes } = range;
  const { firstAt, lastAt, starts } = beats;
  const startMinute = (i: number) => Math.floor(((firstAt[i] ?? Infinity) - begin) / MINUTE_MS);
  const endMinute = (i: number) => Math.floor(((lastAt[i] ?? Infinity) + durationMs - 1 - begin) / MINUTE_MS);
  let touched = 0;
  let [next, nextStart] = [0, startMinute(0)];
  let [ending, nextEnd] = [0, endMinute(0)];
  let active = 0;
  for (let minute = nextStart; minute < minutes; minute++) {
    if (active === 0) minute = nextStart;
    if (minute >= minutes) break;
    let begun = 0;
    for (; nextStart === minute; nextStart = startMinute(++next)) begun += starts[next] as number;
    active += begun;
    const running = Math.min(active, atOnce);
    if (minute >= 0) for (const load of loads) load.add(minute, begun, running);
    for (; ending < next && nextEnd <= minute; nextEnd = endMinute(++ending))
      active -= starts[ending] as number;
    touched++;
  }
  return touched;
}
