import { messageOf } from '../../domain/errors.js';
import { type Clock } from '../../ports/clock.js';
import { type StopReason } from '../../ports/executor.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type Delivery, type Queue } from '../../ports/queue.js';
import { type Readiness } from '../readiness.js';
import { runFacts } from '../run-facts.js';
import { type Heartbeats } from './heartbeats.js';
import { type RunExecution } from './run-execution.js';

const WAIT_MS = 1000;
const RETRY_MS = 500;

export interface WorkerOptions {
  readonly pools: readonly string[];
  /** Most runs at a time. */
  readonly concurrency: number;
  readonly claimTtlMs: number;
  /** How long a stopping worker lets its runs go on. */
  readonly drainMs: number;
  /** Identifies this worker in this life. */
  readonly worker: string;
}

/**
 * Takes events and runs them: working → draining → stopped. Draining takes nothing new, gives back what it took and has not begun, lets
 * runs finish for `drainMs`, then stops them; heartbeats go on until the last run has ended.
 */
export class WorkerLoop {
  private readonly runs = new Map<AbortController, Promise<void>>();
  private wakeForSlot: (() => void) | null = null;
  /** Monotonic ms of the queue's last answer. */
  private answeredAt = 0;
  private isAway = false;
  /** The queue's last absence: how long it was, and until when (monotonic ms) the others have time to renew their claims. */
  private absence = { ms: 0, until: -Infinity };

  constructor(
    private readonly deps: {
      readonly queue: Queue;
      readonly runExecution: RunExecution;
      readonly heartbeats: Heartbeats;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      readonly readiness: Readiness;
    },
    private readonly options: WorkerOptions,
  ) {
    deps.readiness.expect('worker');
  }

  /** Runs in progress. */
  get running(): number {
    return this.runs.size;
  }

  async run(stop: AbortSignal): Promise<void> {
    this.answeredAt = this.deps.clock.monotonicMs();
    this.deps.metrics.gauge('worker_concurrency', {}, this.options.concurrency);
    const stopBeating = new AbortController();
    const beating = this.deps.heartbeats.run(stopBeating.signal);
    stop.addEventListener('abort', () => this.wakeForSlot?.(), { once: true });
    while (!stop.aborted) await this.turn(stop);
    await this.drain();
    stopBeating.abort();
    await beating;
  }

  private async turn(stop: AbortSignal): Promise<void> {
    const { queue, readiness, logger, clock } = this.deps;
    const free = this.options.concurrency - this.runs.size;
    if (free <= 0) {
      readiness.good('worker');
      return this.slotFreed(stop);
    }
    try {
      const deliveries = await this.take(free, stop);
      this.answered();
      readiness.good('worker');
      if (stop.aborted) await queue.giveBack(deliveries);
      else for (const delivery of deliveries) this.begin(delivery);
    } catch (error) {
      this.isAway = true;
      readiness.bad('worker', messageOf(error));
      logger.error({ err: error }, 'nothing taken from the queue, trying again');
      await clock.sleep(RETRY_MS, stop);
    }
  }

  private take(max: number, signal: AbortSignal): Promise<Delivery[]> {
    const { pools, worker, claimTtlMs } = this.options;
    return this.deps.queue.take({
      pools,
      taker: worker,
      max,
      waitMs: WAIT_MS,
      reclaimAfterMs: claimTtlMs + this.absentMs(),
      signal,
      onPoison: (handle, error) => {
        this.deps.metrics.count('poison_messages_total', { stream: 'queue' });
        this.deps.logger.error({ handle, err: error }, 'unreadable message dropped');
      },
    });
  }

  /** While the queue is away nobody can renew a claim, so that time must not make a worker seem dead. */
  private absentMs(): number {
    const now = this.deps.clock.monotonicMs();
    if (this.isAway) return now - this.answeredAt;
    return now < this.absence.until ? this.absence.ms : 0;
  }

  private answered(): void {
    const now = this.deps.clock.monotonicMs();
    if (this.isAway) this.absence = { ms: now - this.answeredAt, until: now + this.options.claimTtlMs };
    this.isAway = false;
    this.answeredAt = now;
  }

  private begin(delivery: Delivery): void {
    const { runExecution, metrics, logger } = this.deps;
    const controller = new AbortController();
    const run = runExecution
      .run(delivery, controller)
      .catch((error: unknown) => {
        const { event } = delivery.message;
        logger.error({ ...runFacts(event), err: error }, 'run not claimed, the queue hands it out again');
      })
      .finally(() => {
        this.runs.delete(controller);
        metrics.gauge('running_executions', {}, this.runs.size);
        this.wakeForSlot?.();
      });
    this.runs.set(controller, run);
    metrics.gauge('running_executions', {}, this.runs.size);
  }

  /** Until a run ends, and not so long that a busy worker would look like one that stands still. */
  private async slotFreed(stop: AbortSignal): Promise<void> {
    const freed = new AbortController();
    this.wakeForSlot = () => freed.abort('freed'); // Without a reason each abort makes an exception.
    if (!stop.aborted) await this.deps.clock.sleep(WAIT_MS, freed.signal);
    this.wakeForSlot = null;
  }

  private async drain(): Promise<void> {
    const { clock, logger } = this.deps;
    if (this.runs.size === 0) return;
    logger.info({ runs: this.runs.size, drain_ms: this.options.drainMs }, 'draining');
    const waiting = new AbortController();
    const ended = Promise.all(this.runs.values()).then(() => waiting.abort());
    await clock.sleep(this.options.drainMs, waiting.signal);
    for (const controller of this.runs.keys()) controller.abort('drained' satisfies StopReason);
    await ended;
  }
}
