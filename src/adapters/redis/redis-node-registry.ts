import { type NodeAnnouncement } from '../../ports/node-registry.js';
import { decodeNode } from './codec.js';
import { type RedisConnection } from './redis-connection.js';
import { RedisRegistry } from './redis-registry.js';

export class RedisNodeRegistry extends RedisRegistry<NodeAnnouncement> {
  constructor(connection: RedisConnection) {
    super(connection, [connection.keys.nodes, connection.keys.nodeLives], decodeNode);
  }
}
