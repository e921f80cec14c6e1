import { type ShellExecutorSpec } from '../../src/domain/executors/shell-spec.js';
import { type NodeAnnouncement } from '../../src/ports/node-registry.js';
import { type WorkerAnnouncement } from '../../src/ports/worker-registry.js';

/** A live worker of the pool `default` that runs http. */
export const buildWorker = (overrides: Partial<WorkerAnnouncement> = {}): WorkerAnnouncement => ({
  instance: 'worker-1/1',
  node: 'worker-1',
  pools: ['default'],
  executors: ['http'],
  concurrency: 100,
  running: 0,
  isDraining: false,
  version: '0.1.0',
  zoneData: '2025c',
  startedAt: 1_767_571_200_000,
  seenAt: 1_767_571_200_000,
  ...overrides,
});

/** A live coordinator. */
export const buildNode = (overrides: Partial<NodeAnnouncement> = {}): NodeAnnouncement => ({
  instance: 'coordinator-1/1',
  node: 'coordinator-1',
  role: 'coordinator',
  version: '0.1.0',
  zoneData: '2025c',
  clockOffsetMs: 3,
  ...overrides,
});

/** A command that any shell has. */
export const SHELL_SPEC: ShellExecutorSpec = {
  type: 'shell',
  run: { command: 'true' },
  cwd: null,
  env: {},
  user: null,
  container: null,
};
