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
 * Takes entries of streams for one consumer group. Looks first, then waits on a blocking read. Entries of dead takers are looked for once
 * in a quarter of the time after which they may be taken over, also while waiting.
 */
export class StreamTaker {
  private readonly reader: BlockingReader;
  /** Monotonic ms. */
  private tookOverAt = -Infinity;

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
      const found = await this.look(request);
      const left = deadline - performance.now();
      if (found.length > 0 || left < 1) return found;
      const arrived = await this.reader.read({
        ...request,
        group: this.group,
        count: Math.max(1, Math.floor(max / streams.length)),
        waitMs: Math.min(left, reclaimAfterMs / 4),
      });
      if (arrived.length > 0) return arrived.sort(byId);
    }
    return [];
  }

  /** Removes entries for good. Idempotent. */
  async acknowledge(stream: string, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.connection.evaluate(ACKNOWLEDGE, [stream], [this.group, ...ids]);
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
