import { type SlotKey } from '../../domain/trigger.js';
import { type CancelAnswer, type CancelVerdicts, type StopRequest, type Stops } from '../../ports/stops.js';
import { encode } from './codec.js';
import { type RedisConnection } from './redis-connection.js';
import { markOf, WORKERS } from './redis-keys.js';
import { CANCEL } from './stop-scripts.js';

type Listener = (executionId: string, reason: StopRequest) => void;

/** Stops as a hash per task, told to the workers by PUBLISH. */
export class RedisStops implements Stops {
  private readonly listeners = new Set<{ readonly tell: Listener }>();
  private isListening = false;

  constructor(private readonly connection: RedisConnection) {}

  async cancel(
    run: SlotKey & { readonly executionId: string },
    { unbegun, begun }: CancelVerdicts,
  ): Promise<CancelAnswer> {
    const { keys } = this.connection;
    const { taskId, executionId } = run;
    const head = [executionId, markOf(run), keys.queuePrefix, keys.stopped, WORKERS];
    const ended = [run.slot, begun.finishedAt ?? begun.entry.at, begun.status];
    const answer = await this.connection.evaluate(
      CANCEL,
      [
        ...[keys.run(run), keys.running(taskId), keys.results],
        ...[keys.waiting(taskId), keys.stops(taskId), keys.lastOutcome(taskId)],
      ],
      [...head, encode(unbegun), encode(begun), ...ended],
    );
    return answer as CancelAnswer;
  }

  subscribe(listener: Listener): () => void {
    const entry = { tell: listener };
    this.listeners.add(entry);
    if (!this.isListening) this.connection.listen(this.connection.keys.stopped, (stop) => this.tellAll(stop));
    this.isListening = true;
    return () => void this.listeners.delete(entry);
  }

  /** `stop`: event id and reason; null when some may have been missed, which the next renewals will tell. */
  private tellAll(stop: string | null): void {
    const [, executionId, reason] = /^(\S+) (cancelled|replaced)$/.exec(stop ?? '') ?? [];
    if (executionId === undefined) return;
    for (const { tell } of [...this.listeners]) tell(executionId, reason as StopRequest);
  }
}
