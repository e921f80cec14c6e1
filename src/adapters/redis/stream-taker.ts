import { BlockingReader, type StreamEntry } from './blocking-reader.js';
import { type RedisConnection } from './redis-connection.js';
import { ACKNOWLEDGE, TAKE } from './stream-scripts.js';

interface TakeEntries {
  readonly streams: readonly string[];
  readonly taker: string;
  readonly max: number;
  readonly waitMs: number;
  readonly reclaimAfterMs: number;
  readonly signal: AbortSignal;
}

/** Takers that hold nothing are forgotten after this time; one that comes back is simply known again. */
const FORGET_TAKER_AFTER_MS = 86_400_000;

/**
 * A call that was given up may reach the server for so long: the network goes on sending what was under way when it was cut. Linux gives
 * up a closed connection after some two minutes.
 */
const LATE_MS = 300_000;
const MOST_LOST = 10;

/**
 * Takes entries of streams for one consumer group. Looks first, then waits on a blocking read. Entries of dead takers are looked for once
 * in a quarter of the time after which they may be taken over, also while waiting.
 * A taker asks under a name of its own. Once an answer was lost, what the server has handed to that name, or will when it gets a call
 * late, comes with the next looks, at once instead of after the time for dead takers; and as soon as answers arrive again it asks under
 * another name. That may hand out again what it was given under that name and has not claimed yet; claims make that harmless.
 */
export class StreamTaker {
  private readonly reader: BlockingReader;
  /** Monotonic ms. */
  private tookOverAt = -Infinity;
  /** Names given up since the start. */
  private names = 0;
  /** Names of which an answer was lost, with the monotonic ms of the last one. */
  private readonly lost = new Map<string, number>();

  constructor(
    private readonly connection: RedisConnection,
    private readonly group: string,
    private readonly forgetTakerAfterMs = FORGET_TAKER_AFTER_MS,
  ) {
    this.reader = new BlockingReader(connection);
  }

  /**
   * Entries in order of their ids. May return more than `max` (one more per stream at most) if several streams got entries at the same
   * moment and `max` is below their number; the caller puts those back.
   */
  async take(request: TakeEntries): Promise<StreamEntry[]> {
    const { streams, max, waitMs, reclaimAfterMs, signal } = request;
    const deadline = performance.now() + waitMs;
    while (!signal.aborted && max > 0) {
      const found = await this.ask(request.taker, (taker) => this.look({ ...request, taker }));
      const left = deadline - performance.now();
      if (found.length > 0 || left < 1) return found;
      const read = {
        ...request,
        group: this.group,
        count: Math.max(1, Math.floor(max / streams.length)),
        waitMs: Math.min(left, reclaimAfterMs / 4),
      };
      const arrived = await this.ask(request.taker, (taker) => this.reader.read({ ...read, taker }));
      if (arrived.length > 0) return arrived.sort(byId);
    }
    return [];
  }

  /** Removes entries for good. Idempotent. */
  async acknowledge(stream: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.connection.evaluate(ACKNOWLEDGE, [stream], [this.group, ...ids]);
  }

  private async ask<T>(taker: string, question: (name: string) => Promise<T>): Promise<T> {
    const name = `${taker}#${this.names}`;
    try {
      const answer = await question(name);
      if (this.lost.has(name)) this.names += 1;
      return answer;
    } catch (error) {
      this.lost.set(name, performance.now());
      throw error;
    }
  }

  private lostNames(): string[] {
    for (const [name, since] of this.lost) {
      if (performance.now() - since >= LATE_MS || this.lost.size > MOST_LOST) this.lost.delete(name);
    }
    return [...this.lost.keys()];
  }

  private async look({ streams, taker, max, reclaimAfterMs }: TakeEntries): Promise<StreamEntry[]> {
    const now = performance.now();
    const takesOver = now - this.tookOverAt >= reclaimAfterMs / 4;
    const args = [
      this.group,
      taker,
      max,
      takesOver ? Math.max(1, Math.ceil(reclaimAfterMs)) : 0,
      this.forgetTakerAfterMs,
      ...this.lostNames(),
    ];
    const answer = await this.connection.evaluate(TAKE, streams, args);
    const [takenOver, ...entries] = answer as [number, ...[number, string, string][]];
    // With all room used there may be more to take over.
    if (takesOver && takenOver < max) this.tookOverAt = now;
    return entries
      .map(([index, id, payload]) => ({ stream: streams[index - 1] ?? '', id, payload }))
      .sort(byId);
  }
}

const byId = (a: StreamEntry, b: StreamEntry): number => {
  const [aMs = 0, aSeq = 0] = a.id.split('-').map(Number);
  const [bMs = 0, bSeq = 0] = b.id.split('-').map(Number);
  return aMs - bMs || aSeq - bSeq;
};
