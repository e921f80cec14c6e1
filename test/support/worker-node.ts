import { Sha256TokenHash } from '../../src/adapters/system/sha256-token-hash.js';
import { W3cTracer } from '../../src/adapters/telemetry/w3c-tracer.js';
import { Readiness } from '../../src/application/readiness.js';
import { Heartbeats } from '../../src/application/worker/heartbeats.js';
import { ReceiptDesk } from '../../src/application/worker/receipt-desk.js';
import { RunExecution } from '../../src/application/worker/run-execution.js';
import { WorkerLoop } from '../../src/application/worker/worker-loop.js';
import { type Claims, DEFAULT_MAX_WAITING } from '../../src/ports/claims.js';
import { type Clock } from '../../src/ports/clock.js';
import { type Executor } from '../../src/ports/executor.js';
import { type LastOutcomes } from '../../src/ports/last-outcomes.js';
import { type Queue } from '../../src/ports/queue.js';
import { type Stops } from '../../src/ports/stops.js';
import { type Receipts } from '../../src/ports/receipts.js';
import { Link } from './link.js';
import { MortalClock } from './mortal-clock.js';
import { RecordingLogger, RecordingMetrics } from './recording.js';
import { RunningLoops } from './running-loops.js';

/** What workers share; read anew with each call, so that a queue may be replaced by an empty one. */
export interface WorkerPorts {
  readonly clock: Clock;
  readonly broker: {
    readonly queue: Queue;
    readonly claims: Claims;
    readonly stops: Pick<Stops, 'subscribe'>;
    readonly receipts: Receipts;
    /** Absent: no task waits for another one. */
    readonly lastOutcomes?: LastOutcomes;
  };
}

export interface WorkerNodeOptions {
  readonly concurrency: number;
  readonly claimTtlMs: number;
  readonly drainMs: number;
  readonly maxWaiting: number;
  readonly executors: ReadonlyMap<string, Executor>;
  readonly metrics: RecordingMetrics;
  readonly logger: RecordingLogger;
}

/** A worker with the settings of production. */
export class WorkerNode {
  /** To queue and claims. */
  readonly redis = new Link();
  readonly metrics: RecordingMetrics;
  readonly logger: RecordingLogger;
  readonly readiness: Readiness;
  readonly heartbeats: Heartbeats;
  readonly runExecution: RunExecution;
  readonly loop: WorkerLoop;
  private readonly clock: MortalClock;
  private readonly loops = new RunningLoops();

  constructor(harness: WorkerPorts, name: string, options: Partial<WorkerNodeOptions>) {
    const clock = new MortalClock(harness.clock);
    this.clock = clock;
    this.metrics = options.metrics ?? new RecordingMetrics();
    this.logger = options.logger ?? new RecordingLogger();
    const { metrics, logger, redis } = this;
    const { concurrency = 100, claimTtlMs = 15_000, drainMs = 30_000 } = options;
    const { maxWaiting = DEFAULT_MAX_WAITING } = options;
    const executors = options.executors ?? new Map();
    const queue = redis.to(() => harness.broker.queue);
    const claims = redis.to(() => harness.broker.claims);
    const linked = redis.to(() => harness.broker.receipts);
    const receipts: Receipts = {
      open: (wait) => linked.open(wait),
      read: (executionIds) => linked.read(executionIds),
      close: (executionId, keepMs) => linked.close(executionId, keepMs),
      post: (executionId, tokenHash, receipt) => linked.post(executionId, tokenHash, receipt),
      subscribe: (listener) => harness.broker.receipts.subscribe(listener),
    };
    this.readiness = new Readiness(clock, 15_000);
    const { stops } = harness.broker;
    this.heartbeats = new Heartbeats({ claims, stops, clock, metrics, logger, claimTtlMs });
    this.runExecution = new RunExecution({
      queue,
      claims,
      heartbeats: this.heartbeats,
      executors,
      lastOutcomes: redis.to(() => harness.broker.lastOutcomes ?? { read: async () => null }),
      receipts,
      receiptDesk: new ReceiptDesk({ receipts, clock, logger }),
      tokenHash: new Sha256TokenHash(),
      clock,
      random: { next: () => 0.5 },
      tracer: new W3cTracer(),
      metrics,
      logger,
      worker: name,
      claimTtlMs,
      maxWaiting,
      publicUrl: 'http://ax:8080',
    });
    const { runExecution, heartbeats, readiness } = this;
    this.loop = new WorkerLoop(
      { queue, runExecution, heartbeats, clock, metrics, logger, readiness },
      { pools: ['default'], concurrency, claimTtlMs, drainMs, worker: name },
    );
  }

  start(): this {
    this.loops.start(this.loop);
    return this;
  }

  /** Drains, which may take time. */
  stop(): Promise<void> {
    return this.loops.stop();
  }

  /** Ends at once: what was called never returns. */
  crash(): void {
    this.redis.state = 'dead';
    this.clock.die();
    this.loops.abandon();
  }
}
