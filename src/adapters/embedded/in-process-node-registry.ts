import { type NodeAnnouncement } from '../../ports/node-registry.js';
import { InProcessRegistry } from './in-process-registry.js';

export class InProcessNodeRegistry extends InProcessRegistry<NodeAnnouncement> {}
