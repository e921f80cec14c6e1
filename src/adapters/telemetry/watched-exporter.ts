import { type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { type Logger } from '../../ports/logger.js';

type Done = Parameters<SpanExporter['export']>[1];

/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0;

/** Tells once when a collector stops taking spans, and once when it takes them again. */
export class WatchedExporter implements SpanExporter {
  /** Spans that were not taken since the last success. */
  private lost = 0;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
  ) {}

  export(spans: ReadableSpan[], done: Done): void {
    this.exporter.export(spans, (result) => {
      if (Number(result.code) === SUCCESS) this.taken();
      else this.refused(spans.length, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private taken(): void {
    if (this.lost > 0) this.logger.info({ lost_spans: this.lost }, 'traces are exported again');
    this.lost = 0;
  }

  private refused(spans: number, error: Error | undefined): void {
    if (this.lost === 0)
      this.logger.warn({ error: error?.name, code: codeOf(error) }, 'traces not exported, these are lost');
    this.lost += spans;
  }
}

/** HTTP status or system code. The message may repeat an address with its password, or what the collector said. */
const codeOf = (error: Error | undefined): unknown =>
  error !== undefined && 'code' in error ? error.code : undefined;
