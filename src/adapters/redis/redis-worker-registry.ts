import { type WorkerAnnouncement, type WorkerRegistry } from '../../ports/worker-registry.js';
import { decodeAnnouncement, encode } from './codec.js';
import { type RedisConnection } from './redis-connection.js';
import { ANNOUNCE, LIST, WITHDRAW } from './worker-scripts.js';

export class RedisWorkerRegistry implements WorkerRegistry {
  private readonly keys: readonly string[];

  constructor(private readonly connection: RedisConnection) {
    this.keys = [connection.keys.workers, connection.keys.workerLives];
  }

  async announce(worker: WorkerAnnouncement, ttlMs: number): Promise<void> {
    await this.connection.evaluate(ANNOUNCE, this.keys, [worker.instance, encode(worker), Math.ceil(ttlMs)]);
  }

  async withdraw(instance: string): Promise<void> {
    await this.connection.evaluate(WITHDRAW, this.keys, [instance]);
  }

  async list(): Promise<WorkerAnnouncement[]> {
    const texts = (await this.connection.evaluate(LIST, this.keys, [])) as string[];
    return texts.flatMap(readable).sort((a, b) => (a.instance < b.instance ? -1 : 1));
  }
}

function readable(text: string): WorkerAnnouncement[] {
  try {
    return [decodeAnnouncement(text)];
  } catch {
    return [];
  }
}
