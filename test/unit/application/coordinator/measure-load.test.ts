import { beforeEach, describe, expect, it } from 'vitest';
import { PrometheusMetrics } from '../../../../src/adapters/telemetry/prometheus-metrics.js';
import { type Leadership } from '../../../../src/application/coordinator/leadership.js';
import { MeasureLoad } from '../../../../src/application/coordinator/measure-load.js';
import { AxError } from '../../../../src/domain/errors.js';
import { type LaneBacklog } from '../../../../src/ports/queue.js';
import { BASE } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordingLogger } from '../../../support/recording.js';

describe('MeasureLoad', () => {
  let clock: FakeClock;
  let metrics: PrometheusMetrics;
  let logger: RecordingLogger;
  let isLeader: boolean;
  let isStoreAway: boolean;
  let lanes: LaneBacklog[];
  let onRead: () => void;
  let asked: number[];
  beforeEach(() => {
    clock = new FakeClock();
    metrics = new PrometheusMetrics();
    logger = new RecordingLogger();
    isLeader = true;
    isStoreAway = false;
    lanes = [];
    asked = [];
    onRead = () => undefined;
  });

  const open = (maxTasks = 10) => {
    const read = async <T>(value: T): Promise<T> => {
      onRead();
      if (isStoreAway) throw new AxError('unavailable', 'the store is away');
      return value;
    };
    const night = { id: 'night', group: 'g', updatedAt: BASE - 9000, nextTriggerTime: BASE + 500 };
    const fresh = { id: 'fresh', group: 'g', updatedAt: BASE, nextTriggerTime: null };
    const loads = {
      load: () => read({ enabled: 7, disabled: 2, oldestSlot: BASE - 1500 }),
      standings: (limit: number) => {
        asked.push(limit);
        return read([
          { ...night, lastSuccessAt: BASE - 60_000, lastFailureAt: BASE - 1000 },
          { ...fresh, lastSuccessAt: null, lastFailureAt: null },
        ]);
      },
    };
    return new MeasureLoad(
      {
        ...{ leadership: { isCurrent: () => isLeader } as Leadership, loads, clock, metrics, logger },
        triggers: { countDue: () => read(3) },
        queue: { backlog: async () => lanes },
        results: { backlog: async () => ({ depth: 4, oldestAgeMs: 250 }) },
      },
      { lookMs: 10_000, maxTasks },
    );
  };
  const shown = async (pattern: RegExp) => {
    const { body } = await metrics.exposition();
    const lines = body.split('\n').filter((line) => pattern.test(line));
    return lines.map((line) => line.replace(/^ax_/, '')).sort();
  };
  const LOAD = /^ax_(tasks|due_|task_(?!errors)|queue_depth|queue_old|results_(depth|old))/;

  it('tells what waits, and how each enabled task stands', async () => {
    lanes = [
      { lane: 'batch', waiting: 2, taken: 1, oldestWaitMs: 400 },
      { lane: 'batch#shell', waiting: 1, taken: 0, oldestWaitMs: 900 },
      { lane: 'default', waiting: 0, taken: 5, oldestWaitMs: 0 },
    ];
    await open().look();
    expect(await shown(LOAD)).toEqual(
      [
        'due_backlog 3',
        'due_oldest_age_seconds 1.5',
        'queue_depth{pool="batch",state="taken"} 1',
        'queue_depth{pool="batch",state="waiting"} 3',
        'queue_depth{pool="default",state="taken"} 5',
        'queue_depth{pool="default",state="waiting"} 0',
        'queue_oldest_age_seconds{pool="batch"} 0.9',
        'queue_oldest_age_seconds{pool="default"} 0',
        'results_depth 4',
        'results_oldest_age_seconds 0.25',
        `task_last_failure_timestamp_seconds{group="g",task="night"} ${BASE / 1000 - 1}`,
        `task_last_success_timestamp_seconds{group="g",task="night"} ${BASE / 1000 - 60}`,
        `task_next_trigger_timestamp_seconds{group="g",task="night"} ${BASE / 1000 + 0.5}`,
        `task_updated_timestamp_seconds{group="g",task="fresh"} ${BASE / 1000}`,
        `task_updated_timestamp_seconds{group="g",task="night"} ${BASE / 1000 - 9}`,
        'tasks{enabled="false"} 2',
        'tasks{enabled="true"} 7',
      ].sort(),
    );
  });

  it('forgets what it cannot read, and keeps the rest', async () => {
    const measure = open();
    await measure.look();
    isStoreAway = true;
    await measure.look();
    expect(await shown(LOAD)).toEqual(['results_depth 4', 'results_oldest_age_seconds 0.25']);
    expect(logger.lines.map(([level]) => level)).toEqual(['warn', 'warn']);
    isStoreAway = false;
    await measure.look();
    expect(await shown(/^ax_due_backlog/)).toEqual(['due_backlog 3']);
  });

  it('says nothing where it does not lead, nor when it lost the lead while it read', async () => {
    isLeader = false;
    const measure = open();
    await measure.look();
    expect(asked).toEqual([]);
    isLeader = true;
    onRead = () => (isLeader = false);
    await measure.look();
    expect(await shown(/^ax_(tasks|due_|task_(?!errors))/)).toEqual([]);
  });

  it('tells of no task where groups alone have series', async () => {
    await open(0).look();
    expect(asked).toEqual([]);
    expect(await shown(/^ax_task_(?!errors)/)).toEqual([]);
    expect(await shown(/^ax_tasks/)).toHaveLength(2);
  });

  it('looks again and again, also after a failure, until it is stopped', async () => {
    const stop = new AbortController();
    isStoreAway = true;
    const running = open().run(stop.signal);
    await clock.advance(10_000);
    isStoreAway = false;
    await clock.advance(10_000);
    expect(await shown(/^ax_due_backlog/)).toEqual(['due_backlog 3']);
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });
});
