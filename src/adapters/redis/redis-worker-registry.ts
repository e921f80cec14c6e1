import { type WorkerAnnouncement } from '../../ports/worker-registry.js';
import { decodeAnnouncement } from './codec.js';
import { type RedisConnection } from './redis-connection.js';
import { RedisRegistry } from './redis-registry.js';

export class RedisWorkerRegistry extends RedisRegistry<WorkerAnnouncement> {
  constructor(connection: RedisConnection) {
    super(connection, [connection.keys.workers, connection.keys.workerLives], decodeAnnouncement);
  }
}
