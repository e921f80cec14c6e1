import { type Claims } from '../../ports/claims.js';
import { type Clock } from '../../ports/clock.js';
import { type Executor } from '../../ports/executor.js';
import { type LastOutcomes } from '../../ports/last-outcomes.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Queue, type QueueMessage } from '../../ports/queue.js';
import { type Random } from '../../ports/random.js';
import { type Receipts } from '../../ports/receipts.js';
import { type TokenHash } from '../../ports/token-hash.js';
import { type Tracer } from '../../ports/tracer.js';
import { type Heartbeats } from './heartbeats.js';
import { type ReceiptDesk } from './receipt-desk.js';
import { type RunReports } from './run-reports.js';
import { type RunTrace } from './run-trace.js';
import { type Claimed } from './unrun-verdicts.js';

/** What running an execution needs. */
export interface RunDeps {
  readonly queue: Pick<Queue, 'epoch'>;
  readonly claims: Claims;
  readonly heartbeats: Heartbeats;
  readonly executors: ReadonlyMap<string, Executor>;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracer: Tracer;
  readonly lastOutcomes: Pick<LastOutcomes, 'read'>;
  readonly receipts: Receipts;
  readonly receiptDesk: ReceiptDesk;
  readonly tokenHash: TokenHash;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Identifies this worker in this life. */
  readonly worker: string;
  readonly claimTtlMs: number;
  /** Most runs of one task that wait for others of it to end. */
  readonly maxWaiting: number;
  /** Where targets reach the API, without a final slash; null if that is not configured. */
  readonly publicUrl: string | null;
}

/** One run that a worker has claimed. */
export interface DeliveredRun {
  readonly message: QueueMessage;
  readonly answer: Claimed;
  /** Of a claim that nobody had before. */
  readonly first: RunReports;
  readonly trace: RunTrace;
  readonly stop: AbortController;
}
