import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, it } from 'vitest';
import { openTracing } from '../src/adapters/telemetry/open-tracing.js';
import { type Tracing } from '../src/adapters/telemetry/tracing-options.js';
import { PrometheusMetrics } from '../src/adapters/telemetry/prometheus-metrics.js';
import { W3cTracer } from '../src/adapters/telemetry/w3c-tracer.js';
import { type Metrics } from '../src/ports/metrics.js';
import { openFullRun } from './full-run.js';
import { compare } from './measure.js';
import { SILENT } from './setup.js';

const BATCHES = 5;
const ROUNDS = 7;
/** More often than anybody scrapes in earnest. */
const SCRAPE_MS = 5000;
const ACCEPT = 'application/openmetrics-text';

const NONE: Metrics = { count() {}, observe() {}, gauge() {}, clear() {}, clearLeaders() {} };

const metrics = new PrometheusMetrics({ namespace: 'bench' });
let without: Awaited<ReturnType<typeof openFullRun>>;
let withMetrics: typeof without;
let withTraces: typeof without;
let withHead: typeof without;
let tracing: Tracing[];
/** Takes everything and looks at nothing. */
const collector = createServer((request, response) => void request.resume().on('end', () => response.end()));

beforeAll(async () => {
  const tracer = new W3cTracer();
  without = await openFullRun({ metrics: NONE, tracer });
  withMetrics = await openFullRun({ metrics, tracer });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] =
    `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const tracingOf = (ratio: number) =>
    openTracing(
      {
        sampler: { root: 'ratio', ratio, isParentBased: true },
        ...{ protocol: 'http/protobuf', maxQueueSize: 16_384, keepsFailures: true },
      },
      { resource: { 'service.name': 'bench' }, logger: SILENT },
    );
  const [all, head] = [await tracingOf(1), await tracingOf(0.01)];
  tracing = [all, head];
  withTraces = await openFullRun({ metrics, tracer: all.tracer, isTraced: true });
  withHead = await openFullRun({ metrics, tracer: head.tracer, isTraced: true });
});

afterAll(async () => {
  await without.close();
  await withMetrics.close();
  await Promise.all([withTraces.close(), withHead.close(), ...tracing.map((one) => one.close())]);
  collector.closeAllConnections();
  collector.close();
});

it('full runs: trigger, queue, claim, attempt, finish, collect', async () => {
  await compare(
    'runs/s of a thousand tasks, coordinator and worker in one process, MySQL and Redis beside it',
    'runs/s',
    ROUNDS,
    [
      { name: 'no metrics', work: () => without.run(BATCHES) },
      { name: 'metrics', work: () => withMetrics.run(BATCHES) },
      { name: 'metrics, scraped every five seconds', work: scraped },
      { name: 'metrics, every run traced', work: () => withTraces.run(BATCHES) },
      { name: 'metrics, 1 % of runs traced, and failures', work: () => withHead.run(BATCHES) },
    ],
  );
  const startedAt = performance.now();
  const { body } = await metrics.exposition(ACCEPT);
  const ms = (performance.now() - startedAt).toFixed(0);
  process.stdout.write(`  one scrape: ${body.split('\n').length} lines, ${body.length >> 10} KB, ${ms} ms\n`);
});

async function scraped(): Promise<number> {
  const timer = setInterval(() => void metrics.exposition(ACCEPT), SCRAPE_MS);
  try {
    return await withMetrics.run(BATCHES);
  } finally {
    clearInterval(timer);
  }
}
