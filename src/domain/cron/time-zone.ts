/** A time in which a zone has one offset: instants of `[start, end)` (epoch ms) show the wall time `instant + offsetMs`. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly offsetMs: number;
  /** Length of the wall times that are left out at `start`. */
  readonly gapMs: number;
  /** Before this instant wall times are shown that were shown before the last change. */
  readonly repeatsUntil: number;
  /** From this instant on wall times are shown that will be shown again after the next change. */
  readonly repeatedFrom: number;
}

/** Tables are made for about a year at a time, when it is first asked for. */
const CHUNK_MS = 2 ** 35;
/** Changes of one zone's offset were never less than 6.9 days apart since 1960 (tz 2025c): no stretch hides between two probes. */
const PROBE_MS = 2 ** 28;
/** More than the names there are, in case they are written in many ways. */
const MAX_ZONES = 2000;

/** Nothing that anybody sets: the same name always gives the same table within a process. */
const zones = new Map<string, TimeZone>();

/**
 * What clocks show in one time zone, from the runtime's own data (Intl). A wall time is written as the epoch ms at which clocks in UTC
 * show the same date and time.
 */
export class TimeZone {
  private readonly chunks = new Map<number, readonly Stretch[]>();
  /** Null in UTC. */
  private readonly format: Intl.DateTimeFormat | null;
  private latest: Stretch;

  private constructor(name: string) {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    this.format = format.resolvedOptions().timeZone === 'UTC' ? null : format;
    this.latest = this.format === null ? ALWAYS_UTC : this.look(0);
  }

  /** @throws RangeError if the runtime does not know the zone. */
  static of(name: string): TimeZone {
    let zone = zones.get(name);
    if (zone === undefined) {
      zone = new TimeZone(name);
      if (zones.size >= MAX_ZONES) zones.clear();
      zones.set(name, zone);
    }
    return zone;
  }

  stretchAt(instant: number): Stretch {
    const { latest } = this;
    if (instant >= latest.start && instant < latest.end) return latest;
    return (this.latest = this.look(instant));
  }

  private look(instant: number): Stretch {
    const index = Math.floor(instant / CHUNK_MS);
    let chunk = this.chunks.get(index);
    if (chunk === undefined) {
      chunk = this.readChunk(index * CHUNK_MS);
      this.chunks.set(index, chunk);
    }
    return chunk.find(({ end }) => instant < end) as Stretch;
  }

  /** The stretches of one chunk. Changes shortly before and after it count, since they reach into it. */
  private readChunk(begin: number): Stretch[] {
    const finish = begin + CHUNK_MS;
    const changes: { at: number; shift: number; offset: number }[] = [];
    let offset = this.offsetAt(begin - PROBE_MS);
    changes.push({ at: -Infinity, shift: 0, offset });
    for (let probe = begin; probe <= finish + PROBE_MS; probe += PROBE_MS) {
      const then = this.offsetAt(probe);
      if (then === offset) continue;
      changes.push({ at: this.changeBetween(probe - PROBE_MS, probe), shift: then - offset, offset: then });
      offset = then;
    }
    const stretches = changes.map(({ at, shift, offset }, i): Stretch => {
      const next = changes[i + 1] ?? { at: Infinity, shift: 0 };
      return {
        start: Math.max(at, begin),
        end: Math.min(next.at, finish),
        offsetMs: offset,
        gapMs: at >= begin && shift > 0 ? shift : 0,
        repeatsUntil: at - Math.min(0, shift),
        repeatedFrom: next.at + Math.min(0, next.shift),
      };
    });
    return stretches.filter(({ start, end }) => start < end);
  }

  /** The first instant in `(from, to]` with another offset than `from`. */
  private changeBetween(from: number, to: number): number {
    const offset = this.offsetAt(from);
    let [before, after] = [from, to];
    while (after - before > 1) {
      const middle = before + Math.floor((after - before) / 2);
      if (this.offsetAt(middle) === offset) before = middle;
      else after = middle;
    }
    return after;
  }

  /** Wall time minus instant, ms. */
  private offsetAt(instant: number): number {
    const [, sign, hours, minutes, seconds = '0'] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(this.format?.format(instant) ?? '') ?? [];
    const ms = (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -ms : ms;
  }
}

const ALWAYS_UTC: Stretch = {
  start: -Infinity,
  end: Infinity,
  offsetMs: 0,
  gapMs: 0,
  repeatsUntil: -Infinity,
  repeatedFrom: Infinity,
};

/** Version of the time zone data that all answers come from, such as `2025c`. */
export const zoneDataVersion = (): string => process.versions.tz ?? 'unknown';
