import { afterAll, beforeAll, it } from 'vitest';
import { PrometheusMetrics } from '../src/adapters/telemetry/prometheus-metrics.js';
import { W3cTracer } from '../src/adapters/telemetry/w3c-tracer.js';
import { type Metrics } from '../src/ports/metrics.js';
import { openFullRun } from './full-run.js';
import { compare } from './measure.js';

const BATCHES = 5;
const ROUNDS = 7;
/** More often than anybody scrapes in earnest. */
const SCRAPE_MS = 5000;
const ACCEPT = 'application/openmetrics-text';

const NONE: Metrics = { count() {}, observe() {}, gauge() {}, clear() {}, clearLeaders() {} };

const metrics = new PrometheusMetrics({ namespace: 'bench' });
let without: Awaited<ReturnType<typeof openFullRun>>;
let withMetrics: typeof without;

beforeAll(async () => {
  const tracer = new W3cTracer();
  without = await openFullRun({ metrics: NONE, tracer });
  withMetrics = await openFullRun({ metrics, tracer });
});

afterAll(async () => {
  await without.close();
  await withMetrics.close();
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
