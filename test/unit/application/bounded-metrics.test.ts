import { afterEach, beforeEach, expect, it } from 'vitest';
import { PrometheusMetrics } from '../../../src/adapters/telemetry/prometheus-metrics.js';
import { DEFAULT_POLICY } from '../../../src/domain/policy.js';
import { type Metrics } from '../../../src/ports/metrics.js';
import { RecordingMetrics } from '../../support/recording.js';
import { RunScene } from '../../support/run-scene.js';
import { failed, succeeded, timedOut } from '../../support/scripted-executor.js';

const TASKS = 20;
const WITH_SERIES = 3;

/** Measures for Prometheus what a test node measures. */
class ScrapedMetrics extends RecordingMetrics {
  constructor(private readonly scraped: PrometheusMetrics) {
    super();
  }

  override count(...args: Parameters<RecordingMetrics['count']>): void {
    this.scraped.count(...(args as unknown as Parameters<Metrics['count']>));
  }

  override observe(...args: Parameters<RecordingMetrics['observe']>): void {
    this.scraped.observe(...(args as unknown as Parameters<Metrics['observe']>));
  }

  override gauge(...args: Parameters<RecordingMetrics['gauge']>): void {
    this.scraped.gauge(...(args as unknown as Parameters<Metrics['gauge']>));
  }
}

let scene: RunScene;
beforeEach(async () => {
  scene = await RunScene.open();
});
afterEach(() => scene.close());

it('ten thousand runs of twenty tasks make no more series than a thousand do (SO-35)', async () => {
  const prometheus = new PrometheusMetrics({ maxTasks: WITH_SERIES });
  const series = async () => {
    const { body } = await prometheus.exposition();
    return body.split('\n').filter((line) => line.startsWith('ax_')).length;
  };
  const outcomes = [succeeded(), failed(), timedOut(), succeeded()];
  scene.executor.script = () => outcomes[scene.executor.calls.length % outcomes.length] ?? succeeded();
  const metrics = new ScrapedMetrics(prometheus);
  scene.harness.worker('worker-1', { metrics, concurrency: 1000 }).start();
  const run = async (perTask: number) => {
    for (let task = 0; task < TASKS; task += 1) {
      await scene.publish({ ...DEFAULT_POLICY, maxConcurrent: 1000 }, perTask, `task-${task}`);
    }
    await scene.harness.clock.advance(60_000);
  };

  await run(50);
  expect(scene.executor.calls).toHaveLength(1000);
  const early = await series();
  expect(early).toBeLessThan(500);
  for (let round = 0; round < 9; round += 1) await run(50);
  expect(scene.executor.calls).toHaveLength(10_000);
  expect(await series()).toBe(early);
  const { body } = await prometheus.exposition();
  const tasks = new Set([...body.matchAll(/,task="([^"]+)"/g)].map(([, task]) => task));
  expect([...tasks].sort()).toEqual(['_other', 'task-0', 'task-1', 'task-2']);
}, 60_000);
