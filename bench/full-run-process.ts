import { openTracing } from '../src/adapters/telemetry/open-tracing.js';
import { PrometheusMetrics } from '../src/adapters/telemetry/prometheus-metrics.js';
import { type Tracing } from '../src/adapters/telemetry/tracing-options.js';
import { W3cTracer } from '../src/adapters/telemetry/w3c-tracer.js';
import { type Metrics } from '../src/ports/metrics.js';
import { openFullRun } from './full-run.js';
import { SILENT, type StoreUrls } from './setup.js';

/** What a process of its own measures full runs with. */
export interface FullRunOptions extends StoreUrls {
  readonly hasMetrics: boolean;
  /** 0: never. */
  readonly scrapeMs: number;
  /** Share of the runs that are traced beside the failed ones; null: nothing is exported. Where to: `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly ratio: number | null;
  /** What the tasks call; null: nothing. */
  readonly targetUrl: string | null;
}

/** Of one message with a number of batches. */
export interface FullRunResult {
  readonly runs: number;
  /** Processor time of the process, µs. */
  readonly cpuUs: number;
}

const NONE: Metrics = { count() {}, observe() {}, gauge() {}, clear() {}, clearLeaders() {} };

const { hasMetrics, scrapeMs, ratio, ...stage } = JSON.parse(process.argv[2] ?? '{}') as FullRunOptions;
const prometheus = new PrometheusMetrics({ namespace: 'bench' });
const tracing: Tracing =
  ratio === null
    ? { tracer: new W3cTracer(), close: async () => undefined }
    : await openTracing(
        {
          sampler: { root: 'ratio', ratio, isParentBased: true },
          limits: { maxQueueSize: 16_384, maxBatchSize: 2048, delayMs: 5000 },
          ...{ protocol: 'http/protobuf', keepsFailures: true },
        },
        { resource: { 'service.name': 'bench' }, logger: SILENT },
      );
const fullRun = await openFullRun({
  ...stage,
  metrics: hasMetrics ? prometheus : NONE,
  tracer: tracing.tracer,
  isTraced: ratio !== null,
});
const scrape = () => void prometheus.exposition('application/openmetrics-text');
const scraping = scrapeMs > 0 ? setInterval(scrape, scrapeMs) : undefined;

process.on('message', (batches: number) => {
  const before = process.cpuUsage();
  void fullRun.run(batches).then((runs) => {
    const { user, system } = process.cpuUsage(before);
    process.send?.({ runs, cpuUs: user + system } satisfies FullRunResult);
  });
});
process.once('disconnect', () => {
  clearInterval(scraping);
  void Promise.all([fullRun.close(), tracing.close()]);
});
process.send?.('ready');
