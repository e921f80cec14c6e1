import { MINUTE_MS } from './beats.js';
import { type Load, type MinuteRange } from './load.js';

/** A minute in which several tasks start, and how often the same ones do in the range. */
export interface CollisionMinute {
  /** Index in the range: the worst of its like. */
  readonly minute: number;
  readonly times: number;
  readonly tasks: number;
}

/** Which tasks start in which minute, in a few bytes for each minute. */
export class StartingTasks {
  private readonly counts: Uint32Array;
  /** Sums of the tasks' numbers, mixed: equal for the same tasks. */
  private readonly signatures: Int32Array;

  constructor(private readonly range: MinuteRange) {
    this.counts = new Uint32Array(range.minutes);
    this.signatures = new Int32Array(range.minutes);
  }

  /** The starts of one task, epoch ms in order. */
  add(taskNumber: number, starts: readonly number[]): void {
    const signature = mix(taskNumber);
    let before = -1;
    for (const at of starts) {
      const minute = Math.floor((at - this.range.begin) / MINUTE_MS);
      if (minute < 0 || minute === before || minute >= this.range.minutes) continue;
      before = minute;
      this.counts[minute] = this.countOf(minute) + 1;
      this.signatures[minute] = (this.signatures[minute] as number) + signature;
    }
  }

  /** Those with the most runs at once, then with the most tasks; each group of tasks once. */
  worst(load: Load, limit: number): CollisionMinute[] {
    const groups = new Map<string, { minute: number; times: number }>();
    for (let minute = 0; minute < this.range.minutes; minute++) {
      if (this.countOf(minute) < 2) continue;
      const key = `${this.countOf(minute)} ${this.signatures[minute]}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { minute, times: 1 });
      else {
        group.times++;
        if (load.runningIn(minute) > load.runningIn(group.minute)) group.minute = minute;
      }
    }
    return [...groups.values()]
      .sort(
        (a, b) =>
          load.runningIn(b.minute) - load.runningIn(a.minute) ||
          this.countOf(b.minute) - this.countOf(a.minute) ||
          a.minute - b.minute,
      )
      .slice(0, limit)
      .map(({ minute, times }) => ({ minute, times, tasks: this.countOf(minute) }));
  }

  private countOf(minute: number): number {
    return this.counts[minute] ?? 0;
  }
}

/** Spreads neighbouring numbers over 32 bits: the finalizer of MurmurHash3 by A. Appleby. */
function mix(number: number): number {
  let hash = number + 1;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
