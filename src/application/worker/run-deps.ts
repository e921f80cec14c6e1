import { type Claims } from '../../ports/claims.js';
import { type Clock } from '../../ports/clock.js';
import { type Executor } from '../../ports/executor.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Queue } from '../../ports/queue.js';
import { type Random } from '../../ports/random.js';
import { type Tracer } from '../../ports/tracer.js';
import { type Heartbeats } from './heartbeats.js';

/** What running an execution needs. */
export interface RunDeps {
  readonly queue: Pick<Queue, 'epoch'>;
  readonly claims: Claims;
  readonly heartbeats: Heartbeats;
  readonly executors: ReadonlyMap<string, Executor>;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Identifies this worker in this life. */
  readonly worker: string;
  readonly claimTtlMs: number;
  /** Most runs of one task that wait for others of it to end. */
  readonly maxWaiting: number;
}
