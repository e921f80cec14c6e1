import { AxError } from '../../domain/errors.js';
import { type DedicatedConnection, type RedisConnection } from './redis-connection.js';
import { isNoGroup, unavailable } from './redis-errors.js';
import { PAYLOAD } from './stream-scripts.js';

/** One entry of a stream; `payload` is '' if the entry is not one that ax writes. */
export interface StreamEntry {
  readonly stream: string;
  readonly id: string;
  readonly payload: string;
}

interface BlockingRead {
  readonly streams: readonly string[];
  readonly group: string;
  readonly taker: string;
  /** Per stream, as XREADGROUP counts. */
  readonly count: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** How much later than asked an answer may come before the connection counts as dead. */
const MARGIN_MS = 2000;
const INTERRUPT_EVERY_MS = 50;

/**
 * Blocking reads, each on a connection of its own, which is kept for the next read. Protocol of one read:
 *   answered → the connection is kept;
 *   silent for `waitMs` plus a margin (cut without a word, https://github.com/redis/ioredis/issues/1888) → it is thrown away;
 *   aborted → CLIENT UNBLOCK makes the server answer at once, with what it had read or with nothing, so no entry is lost on the way.
 * An entry whose answer was lost with its connection stays with the name under which it was asked for; StreamTaker finds it there.
 */
export class BlockingReader {
  private readonly idle: DedicatedConnection[] = [];

  constructor(private readonly connection: RedisConnection) {}

  /** Empty after `waitMs`, after an abort, or when the group is missing. @throws AxError `unavailable`. */
  async read(request: BlockingRead): Promise<StreamEntry[]> {
    const line = this.idle.pop() ?? (await this.connect());
    try {
      const entries = await this.readOn(line, request);
      this.keep(line);
      return entries;
    } catch (error) {
      if (!isNoGroup(error)) {
        this.connection.drop(line.client);
        throw unavailable(error);
      }
      this.keep(line);
      return [];
    }
  }

  private async connect(): Promise<DedicatedConnection> {
    const line = await this.connection.open();
    line.client.once('close', () => {
      const at = this.idle.indexOf(line);
      if (at >= 0) this.idle.splice(at, 1);
      this.connection.drop(line.client);
    });
    return line;
  }

  private keep(line: DedicatedConnection): void {
    if (line.client.status === 'ready') this.idle.push(line);
  }

  private async readOn(line: DedicatedConnection, request: BlockingRead): Promise<StreamEntry[]> {
    const { streams, group, taker, count, signal } = request;
    if (signal.aborted) return [];
    const blockMs = Math.max(1, Math.ceil(request.waitMs));
    const ids = streams.map(() => '>');
    const args = ['GROUP', group, taker, 'COUNT', count, 'BLOCK', blockMs, 'STREAMS', ...streams, ...ids];
    let stopWatching = () => {};
    try {
      const answer = await new Promise((resolve, reject) => {
        stopWatching = this.watch(line, blockMs, signal, reject);
        line.client.call('xreadgroup', args).then(resolve, reject);
      });
      return entriesOf(answer);
    } finally {
      stopWatching();
    }
  }

  /** Ends the read early on abort, and gives it up when no answer comes. */
  private watch(
    { id }: DedicatedConnection,
    blockMs: number,
    signal: AbortSignal,
    giveUp: (error: AxError) => void,
  ): () => void {
    const late = () => giveUp(new AxError('unavailable', 'Redis: a blocking read was never answered'));
    let watchdog = setTimeout(late, blockMs + MARGIN_MS);
    let interrupting: NodeJS.Timeout | undefined;
    const unblock = () =>
      void this.connection.run((client) => client.client('UNBLOCK', id)).catch(() => undefined);
    const onAbort = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(late, MARGIN_MS);
      unblock();
      // Again until it works: the server may get it before the read that it is to end.
      interrupting = setInterval(unblock, INTERRUPT_EVERY_MS);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return () => {
      clearTimeout(watchdog);
      clearInterval(interrupting);
      signal.removeEventListener('abort', onAbort);
    };
  }
}

/** The answer of XREADGROUP: null, or streams with their entries, an entry being its id and flat field-value pairs. */
function entriesOf(answer: unknown): StreamEntry[] {
  const streams = (answer ?? []) as [string, [string, string[] | null][]][];
  return streams.flatMap(([stream, entries]) =>
    entries.map(([id, fields]) => ({
      stream,
      id,
      payload: fields?.[0] === PAYLOAD ? (fields[1] ?? '') : '',
    })),
  );
}
