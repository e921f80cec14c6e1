import { AxError, messageOf } from '../../domain/errors.js';
import { isTerminal, type ExecutionReport } from '../../domain/execution.js';
import { type Clock } from '../../ports/clock.js';
import { type ExecutionRepo } from '../../ports/execution-repo.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type ResultBatch, type Results } from '../../ports/results.js';
import { type Readiness } from '../readiness.js';

const BATCH = 1000;
const WAIT_MS = 1000;
const RECLAIM_AFTER_MS = 30_000;
const RETRY_MS = 500;

/**
 * Moves reports from the results stream into the execution store: take → apply → acknowledge. A batch is acknowledged only after it was
 * applied; until then it stays in the stream, so a crash or an outage of the store loses nothing. Applying twice changes nothing.
 */
export class CollectResults {
  /** Taken and not acknowledged yet. */
  private held: ResultBatch | null = null;

  constructor(
    private readonly deps: {
      readonly results: Results;
      readonly executions: ExecutionRepo;
      readonly clock: Clock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      readonly readiness: Readiness;
      /** Identifies this process in this life. */
      readonly taker: string;
    },
  ) {
    deps.readiness.expect('collector');
  }

  /** Runs until stopped, then applies what has arrived by then. */
  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) await this.turn(stop, WAIT_MS);
    while (await this.turn(null, 0));
  }

  /** Whether there may be more at once. */
  private async turn(stop: AbortSignal | null, waitMs: number): Promise<boolean> {
    const { results, readiness, logger, clock } = this.deps;
    try {
      const batch = (this.held ??= await this.take(stop ?? new AbortController().signal, waitMs));
      if (batch.reports.length > 0) await this.apply(batch.reports);
      // What is applied is not told again when only the acknowledgement has to be repeated.
      this.held = { ...batch, reports: [] };
      if (batch.handles.length > 0) await results.acknowledge(batch);
      this.held = null;
      readiness.good('collector');
      return batch.handles.length > 0;
    } catch (error) {
      readiness.bad('collector', messageOf(error));
      logger.error({ err: error }, 'results not applied yet, trying again');
      if (stop !== null) await clock.sleep(RETRY_MS, stop);
      return false;
    }
  }

  private take(signal: AbortSignal, waitMs: number): Promise<ResultBatch> {
    const { results, metrics, logger, taker } = this.deps;
    return results.take({
      taker,
      max: BATCH,
      waitMs,
      reclaimAfterMs: RECLAIM_AFTER_MS,
      signal,
      onPoison: (handle, error) => {
        metrics.count('poison_messages_total', { stream: 'results' });
        logger.error({ handle, err: error }, 'unreadable report dropped');
      },
    });
  }

  /** Reports that the store refuses are told whole and left out; when it can take none at all, the fault is not theirs and all wait. */
  private async apply(reports: readonly ExecutionReport[]): Promise<void> {
    const refused = await this.applyParts(reports);
    const [first] = refused;
    if (first !== undefined && refused.length === reports.length && !isRefusal(first.error))
      throw first.error;
    for (const { report, error } of refused) {
      this.deps.metrics.count('poison_messages_total', { stream: 'results' });
      // A hook may carry secrets.
      const facts = { report: { ...report, owed: undefined }, err: error };
      this.deps.logger.error(facts, 'report refused by the store, kept in this line only');
    }
  }

  /** Applies what can be applied: halves a batch that fails until what fails stands alone. @throws AxError that is `retryable`. */
  private async applyParts(reports: readonly ExecutionReport[]): Promise<Refused[]> {
    const [first] = reports;
    if (first === undefined) return [];
    try {
      await this.deps.executions.apply(reports);
      this.tell(reports);
      return [];
    } catch (error) {
      if (error instanceof AxError && error.retryable) throw error;
      if (reports.length === 1) return [{ report: first, error }];
      const middle = reports.length >> 1;
      const refused = await this.applyParts(reports.slice(0, middle));
      return [...refused, ...(await this.applyParts(reports.slice(middle)))];
    }
  }

  private tell(reports: readonly ExecutionReport[]): void {
    const { metrics, clock } = this.deps;
    const now = clock.now();
    metrics.count('results_applied_total', {}, reports.length);
    for (const report of reports) {
      if (!isTerminal(report.status)) continue;
      metrics.observe('results_lag_seconds', {}, Math.max(0, now - report.entry.at) / 1000);
    }
  }
}

interface Refused {
  readonly report: ExecutionReport;
  readonly error: unknown;
}

/** The store says that this very value cannot be stored. */
const isRefusal = (error: unknown): boolean => error instanceof AxError && error.code === 'invalid_input';
