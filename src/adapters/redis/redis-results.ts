import { type ExecutionReport } from '../../domain/execution.js';
import { type ResultBatch, type Results } from '../../ports/results.js';
import { decodeReport } from './codec.js';
import { type RedisConnection } from './redis-connection.js';
import { COLLECTORS } from './redis-keys.js';
import { BACKLOG } from './stream-scripts.js';
import { StreamTaker } from './stream-taker.js';

/** Handles per acknowledging call, which must fit the argument limit of Lua. */
const CHUNK = 1000;

/** One stream of reports, one consumer group over all collectors. Workers add to it in the scripts of their claims. */
export class RedisResults implements Results {
  private readonly taker: StreamTaker;
  private readonly stream: string;

  constructor(private readonly connection: RedisConnection) {
    this.taker = new StreamTaker(connection, COLLECTORS);
    this.stream = connection.keys.results;
  }

  async take(request: Parameters<Results['take']>[0]): Promise<ResultBatch> {
    const entries = await this.taker.take({ ...request, streams: [this.stream] });
    const reports: ExecutionReport[] = [];
    const handles: string[] = [];
    for (const { id, payload } of entries) {
      try {
        reports.push(decodeReport(payload));
        handles.push(id);
      } catch (error) {
        request.onPoison(`${this.stream} ${id}`, error);
        // If this fails the entry is taken over later, and dropped then.
        void this.taker.acknowledge(this.stream, [id]).catch(() => undefined);
      }
    }
    return { reports, handles };
  }

  async acknowledge({ handles }: ResultBatch): Promise<void> {
    for (let at = 0; at < handles.length; at += CHUNK) {
      await this.taker.acknowledge(this.stream, handles.slice(at, at + CHUNK));
    }
  }

  async backlog(): Promise<{ depth: number; oldestAgeMs: number }> {
    const [depth, oldestAgeMs] = (await this.connection.evaluate(BACKLOG, [this.stream], [])) as [
      number,
      number,
    ];
    return { depth, oldestAgeMs };
  }
}
