import { beforeEach, describe, expect, it } from 'vitest';
import { InProcessWorkerRegistry } from '../../../../src/adapters/embedded/in-process-worker-registry.js';
import { PrometheusMetrics } from '../../../../src/adapters/telemetry/prometheus-metrics.js';
import { type Leadership } from '../../../../src/application/coordinator/leadership.js';
import { WatchPools } from '../../../../src/application/coordinator/watch-pools.js';
import { AxError } from '../../../../src/domain/errors.js';
import { type PoolDemand } from '../../../../src/ports/task-repo.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { buildWorker } from '../../../support/pools.js';
import { RecordingLogger } from '../../../support/recording.js';

const LOOK_MS = 10_000;

describe('WatchPools', () => {
  let clock: FakeClock;
  let registry: InProcessWorkerRegistry;
  let metrics: PrometheusMetrics;
  let logger: RecordingLogger;
  let demands: PoolDemand[];
  let isLeader: boolean;
  let isAway: boolean;
  let watch: WatchPools;
  beforeEach(() => {
    clock = new FakeClock();
    registry = new InProcessWorkerRegistry(clock);
    metrics = new PrometheusMetrics();
    logger = new RecordingLogger();
    demands = [
      { pool: 'default', executor: 'http', tasks: 5 },
      { pool: 'batch', executor: 'shell', tasks: 2 },
    ];
    isLeader = true;
    isAway = false;
    const leadership = { isCurrent: () => isLeader } as Leadership;
    const demand = async () => {
      if (isAway) throw new AxError('unavailable', 'the store is away');
      return demands;
    };
    watch = new WatchPools(
      { leadership, registry, tasks: { demand }, clock, metrics, logger },
      { lookMs: LOOK_MS },
    );
  });

  const serve = (instance: string, overrides = {}) =>
    registry.announce(buildWorker({ instance, ...overrides }), 3_600_000);
  const measured = async (name: string) =>
    (await metrics.exposition()).body.split('\n').filter((line) => line.startsWith(`ax_${name}`));
  const told = () => logger.lines.map(([level, { pools, tasks }]) => [level, pools, tasks]);

  it('measures enabled tasks without a worker, and the workers of each pool', async () => {
    await serve('a', { pools: ['default', 'unused'] });
    await serve('b');
    await serve('draining', { pools: ['batch'], executors: ['shell'], isDraining: true });
    await serve('without-shell', { pools: ['batch'] });
    await watch.look();
    expect(await measured('tasks_without_worker')).toEqual(['ax_tasks_without_worker 2']);
    expect((await measured('pool_workers')).toSorted()).toEqual([
      'ax_pool_workers{pool="batch"} 1',
      'ax_pool_workers{pool="default"} 2',
      'ax_pool_workers{pool="unused"} 1',
    ]);
  });

  it('forgets a pool that nobody names any more, and everything when another node leads', async () => {
    await serve('a');
    await watch.look();
    demands = demands.slice(0, 1);
    await watch.look();
    expect(await measured('pool_workers')).toEqual(['ax_pool_workers{pool="default"} 1']);
    await registry.withdraw('a');
    await watch.look();
    expect(await measured('tasks_without_worker')).toEqual(['ax_tasks_without_worker 5']);
    isLeader = false;
    await watch.look();
    expect(await measured('tasks_without_worker')).toEqual([]);
    expect(await measured('pool_workers')).toEqual([]);
  });

  it('gives a hundred pools a series of their own, those without a worker first', async () => {
    const pools = Array.from({ length: 250 }, (_, i) => `pool-${i}`);
    demands = pools.map((pool) => ({ pool, executor: 'http', tasks: 1 }));
    await serve('a', { pools: pools.slice(0, 240) });
    await watch.look();
    const lines = await measured('pool_workers');
    expect(lines).toHaveLength(101);
    for (const pool of pools.slice(240)) expect(lines).toContain(`ax_pool_workers{pool="${pool}"} 0`);
    expect(lines).toContain('ax_pool_workers{pool="_other"} 150');
  });

  it('tells once that a pool has lost its last worker, and once that it is back', async () => {
    await serve('a');
    await serve('b', { pools: ['batch'], executors: ['shell'] });
    const stop = new AbortController();
    const running = watch.run(stop.signal);
    await clock.advance(LOOK_MS * 3);
    expect(told()).toEqual([]);
    await registry.withdraw('b');
    await clock.advance(LOOK_MS);
    expect(told()).toEqual([]);
    await clock.advance(LOOK_MS * 5);
    expect(told()).toEqual([['warn', ['batch/shell'], 2]]);
    await serve('b', { pools: ['batch'], executors: ['shell'] });
    await clock.advance(LOOK_MS * 5);
    expect(told().slice(1)).toEqual([['info', ['batch/shell'], undefined]]);
    stop.abort();
    await running;
  });

  it('tells nothing of a restart, nor of a pool whose tasks were disabled', async () => {
    await serve('a');
    await watch.look();
    await serve('b', { pools: ['batch'], executors: ['shell'] });
    await watch.look();
    expect(told()).toEqual([]);
    await registry.withdraw('b');
    await watch.look();
    await watch.look();
    expect(told()).toHaveLength(1);
    demands = demands.slice(0, 1);
    await watch.look();
    demands = [];
    await watch.look();
    expect(told()).toHaveLength(1);
  });

  it('takes a store that is away for nobody’s absence', async () => {
    await serve('a');
    await serve('b', { pools: ['batch'], executors: ['shell'] });
    const stop = new AbortController();
    const running = watch.run(stop.signal);
    await clock.advance(0);
    isAway = true;
    await clock.advance(LOOK_MS * 3);
    isAway = false;
    await clock.advance(LOOK_MS);
    expect(await measured('tasks_without_worker')).toEqual(['ax_tasks_without_worker 0']);
    expect(logger.lines.map(([, , line]) => line)).toEqual(
      Array(3).fill('pools not looked at, trying again'),
    );
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });
});
