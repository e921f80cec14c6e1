import { CollectResults } from '../../src/application/coordinator/collect-results.js';
import { FillOutcomes } from '../../src/application/coordinator/fill-outcomes.js';
import { Leadership } from '../../src/application/coordinator/leadership.js';
import { RecoverExecutions } from '../../src/application/coordinator/recover-executions.js';
import { ScheduleLoop } from '../../src/application/coordinator/schedule-loop.js';
import { Tick } from '../../src/application/coordinator/tick.js';
import { Readiness } from '../../src/application/readiness.js';
import { type Clock } from '../../src/ports/clock.js';
import { type ExecutionRepo } from '../../src/ports/execution-repo.js';
import { type Ids } from '../../src/ports/ids.js';
import { type HookRepo } from '../../src/ports/hook-repo.js';
import { type LastOutcomes } from '../../src/ports/last-outcomes.js';
import { type Lock } from '../../src/ports/lock.js';
import { type Queue } from '../../src/ports/queue.js';
import { type Results } from '../../src/ports/results.js';
import { type TriggerRepo } from '../../src/ports/trigger-repo.js';
import { type Wakeup } from '../../src/ports/wakeup.js';
import { W3cTracer } from '../../src/adapters/telemetry/w3c-tracer.js';
import { Link } from './link.js';
import { MortalClock } from './mortal-clock.js';
import { RecordingLogger, RecordingMetrics } from './recording.js';
import { RunningLoops } from './running-loops.js';

/** What coordinators share; read anew with each call, so that a queue may be replaced by an empty one. */
export interface CoordinatorPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly wakeup: Wakeup;
  readonly triggers: TriggerRepo;
  readonly executions: ExecutionRepo;
  readonly lock: Lock;
  readonly broker: { readonly queue: Queue; readonly results: Results; readonly lastOutcomes?: LastOutcomes };
  /** Absent: no task has hooks. */
  readonly hooks?: HookRepo;
}

export interface CoordinatorOptions {
  readonly leaseMs: number;
  readonly tickMs: number;
  readonly queueLimit: number;
  /** See RecoverExecutions. */
  readonly settleMs: number;
  readonly metrics: RecordingMetrics;
  readonly logger: RecordingLogger;
}

const DEFAULTS = { leaseMs: 5000, tickMs: 1000, queueLimit: 100_000, settleMs: 10_000 };

/** A coordinator with the settings of production, whose parts can be called one by one or run as loops. */
export class CoordinatorNode {
  /** To the task store. */
  readonly store = new Link();
  /** To lock, queue and results. */
  readonly redis = new Link();
  readonly metrics: RecordingMetrics;
  readonly logger: RecordingLogger;
  readonly readiness: Readiness;
  readonly leadership: Leadership;
  readonly tick: Tick;
  readonly loop: ScheduleLoop;
  readonly collector: CollectResults;
  readonly recovery: RecoverExecutions;
  private readonly clock: MortalClock;
  private readonly loops = new RunningLoops();

  constructor(harness: CoordinatorPorts, name: string, options: Partial<CoordinatorOptions>) {
    const { ids, wakeup } = harness;
    const clock = new MortalClock(harness.clock);
    this.clock = clock;
    this.metrics = options.metrics ?? new RecordingMetrics();
    this.logger = options.logger ?? new RecordingLogger();
    const { metrics, logger, store, redis } = this;
    const { leaseMs, tickMs, queueLimit, settleMs } = { ...DEFAULTS, ...options };
    const triggers = store.to(() => harness.triggers);
    const executions = store.to(() => harness.executions);
    const queue = redis.to(() => harness.broker.queue);
    const results = redis.to(() => harness.broker.results);
    const lock = redis.to(() => harness.lock);
    const readiness = new Readiness(clock, 15_000);
    this.readiness = readiness;
    const leadership = new Leadership({ lock, clock, metrics, logger, owner: name, leaseMs });
    this.leadership = leadership;
    this.tick = new Tick(
      {
        leadership,
        triggers,
        executions,
        queue,
        fillOutcomes: this.fillOutcomes(harness),
        clock,
        ids,
        tracer: new W3cTracer(),
        metrics,
        logger,
      },
      { node: name, tickMs, queueLimit },
    );
    this.loop = new ScheduleLoop({ tick: this.tick, leadership, wakeup, clock, metrics, logger, readiness });
    this.collector = new CollectResults({
      results,
      executions,
      clock,
      metrics,
      logger,
      readiness,
      taker: name,
    });
    this.recovery = new RecoverExecutions(
      { leadership, executions, queue, results, clock, metrics, logger },
      { node: name, sweepMs: 5000, graceMs: 10_000, settleMs },
    );
  }

  private fillOutcomes(harness: CoordinatorPorts): Pick<FillOutcomes, 'ensure'> {
    const { hooks, broker } = harness;
    const { lastOutcomes } = broker;
    if (hooks === undefined || lastOutcomes === undefined) return { ensure: async () => undefined };
    return new FillOutcomes({
      hooks: this.store.to(() => hooks),
      lastOutcomes: this.redis.to(() => harness.broker.lastOutcomes ?? lastOutcomes),
    });
  }

  /** Starts the loops, or those named. */
  start(...parts: ('loop' | 'collector' | 'recovery')[]): this {
    for (const part of parts.length > 0 ? parts : (['loop', 'recovery', 'collector'] as const)) {
      this.loops.start(this[part]);
    }
    return this;
  }

  stop(): Promise<void> {
    return this.loops.stop();
  }

  /** Ends at once: what was called never returns. */
  crash(): void {
    this.store.state = 'dead';
    this.redis.state = 'dead';
    this.clock.die();
    this.loops.abandon();
  }
}
