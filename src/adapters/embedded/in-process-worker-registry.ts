import { type WorkerAnnouncement } from '../../ports/worker-registry.js';
import { InProcessRegistry } from './in-process-registry.js';

export class InProcessWorkerRegistry extends InProcessRegistry<WorkerAnnouncement> {}
