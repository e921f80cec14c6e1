import { type Logger } from '../../ports/logger.js';
import { type SpanFacts, type SpanTimes } from '../../ports/tracer.js';
import { type SpanBatch } from './span-batch.js';

/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0;

/** An exporter of OpenTelemetry. It bounds the time of an export itself. */
export interface BatchExporter<T> {
  export(batch: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
  shutdown(): Promise<void>;
}

export interface BatchLimits {
  /** Spans that wait or are on their way; further ones are dropped. */
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
  /** A batch that is not full is exported after this. */
  readonly delayMs: number;
}

/**
 * Exports spans in the background, one batch after the other, and holds no more than it may. Tells once when a collector stops taking them, and
 * once when it takes them again.
 */
export class BatchedExport<T> {
  /** In `batch`, which is not full. */
  private open = 0;
  /** Full batches, the first of them on its way. */
  private readonly sealed: { readonly batch: T; readonly spans: number }[] = [];
  private held = 0;
  private timer: NodeJS.Timeout | undefined;
  /** Spans that were not taken since the last success. */
  private lost = 0;
  private isClosed = false;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly batch: SpanBatch<T>,
    private readonly exporter: BatchExporter<T>,
    private readonly limits: BatchLimits,
    private readonly logger: Logger,
  ) {}

  add(context: string, times: SpanTimes, facts: SpanFacts): void {
    const { maxQueueSize, maxBatchSize, delayMs } = this.limits;
    if (this.isClosed) return;
    if (this.held >= maxQueueSize) return this.lose(1, 'full');
    this.batch.add(context, times, facts);
    this.held++;
    if (++this.open >= Math.min(maxBatchSize, maxQueueSize)) this.seal();
    else this.timer ??= setTimeout(() => this.seal(), delayMs).unref();
  }

  /** Resolves when all spans were exported or given up, which the exporter bounds; further ones are dropped. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.seal();
    if (this.sealed.length > 0) await new Promise<void>((resolve) => (this.onIdle = resolve));
    await this.exporter.shutdown();
  }

  private seal(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.open === 0) return;
    this.sealed.push({ batch: this.batch.take(), spans: this.open });
    this.open = 0;
    if (this.sealed.length === 1) this.exportNext();
  }

  private exportNext(): void {
    const [next] = this.sealed;
    if (next === undefined) return this.onIdle?.();
    this.exporter.export(next.batch, ({ code, error }) => {
      this.sealed.shift();
      this.held -= next.spans;
      if (code === SUCCESS) this.taken();
      else this.lose(next.spans, error?.name, codeOf(error));
      this.exportNext();
    });
  }

  /** Tells only when nothing waits any more: while there is more than the collector can take, spans are taken and lost in turn. */
  private taken(): void {
    if (this.sealed.length > 0) return;
    if (this.lost > 0) this.logger.info({ lost_spans: this.lost }, 'traces are exported again');
    this.lost = 0;
  }

  private lose(spans: number, error: string | undefined, code?: unknown): void {
    if (this.lost === 0) this.logger.warn({ error, code }, 'traces not exported, these are lost');
    this.lost += spans;
  }
}

/** HTTP status or system code. The message may repeat an address with its password, or what the collector said. */
const codeOf = (error: Error | undefined): unknown =>
  error !== undefined && 'code' in error ? error.code : undefined;
