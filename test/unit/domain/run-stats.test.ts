import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunStats, type RunTiming } from '../../../src/domain/run-stats.js';

const timing = (overrides: Partial<RunTiming> = {}): RunTiming => ({
  id: 'run',
  kind: 'schedule',
  status: 'success',
  reason: null,
  windowStart: 1000,
  firedAt: 1001,
  startedAt: 1003,
  finishedAt: 1006,
  ...overrides,
});
function statsOf(...timings: readonly Partial<RunTiming>[]): RunStats {
  const stats = new RunStats();
  for (const each of timings) stats.take(timing(each));
  return stats;
}

/** The definition, as one would compute it from the raw numbers. */
const nearestRank = (spans: readonly number[], percent: number) =>
  spans.toSorted((a, b) => a - b)[Math.ceil((spans.length * percent) / 100) - 1] ?? null;

describe('RunStats', () => {
  it('has the nearest-rank percentiles of the raw spans, whatever their order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 400 }), (spans) => {
        const { duration } = statsOf(...spans.map((span) => ({ finishedAt: 1003 + span })));
        expect(duration).toEqual({
          count: spans.length,
          p50Ms: nearestRank(spans, 50),
          p95Ms: nearestRank(spans, 95),
          p99Ms: nearestRank(spans, 99),
          maxMs: nearestRank(spans, 100),
        });
      }),
    );
  });

  it('counts by status and reason', () => {
    const stats = statsOf(
      {},
      { status: 'fail', reason: 'http_status' },
      { status: 'fail', reason: 'network' },
      { status: 'fail', reason: 'network' },
      { status: 'skipped', reason: 'overlap' },
      { status: 'pending' },
    );
    expect(stats.total).toBe(6);
    expect(Object.fromEntries(stats.statuses)).toEqual({
      ...{ pending: 1, running: 0, retrying: 0, success: 1, fail: 3, timeout: 0, skipped: 1 },
    });
    expect(stats.reasons).toEqual([
      { status: 'fail', reason: 'network', count: 2 },
      { status: 'fail', reason: 'http_status', count: 1 },
      { status: 'skipped', reason: 'overlap', count: 1 },
    ]);
  });

  it('rates what came to an end of its own: neither what was skipped, nor what somebody ended, nor what goes on', () => {
    expect(statsOf().successRate).toBeNull();
    const aside: Partial<RunTiming>[] = [
      { status: 'skipped', reason: 'misfire' },
      { status: 'fail', reason: 'cancelled' },
      { status: 'fail', reason: 'replaced' },
      { status: 'running' },
      { status: 'retrying' },
      { status: 'pending' },
    ];
    expect(statsOf(...aside).successRate).toBeNull();
    expect(statsOf(...aside, {}, {}, { status: 'fail' }, { status: 'timeout' }).successRate).toBe(0.5);
    expect(statsOf({ status: 'fail', reason: 'outcome_unknown' }).successRate).toBe(0);
  });

  it('takes lateness of the schedule, durations of runs that ended, and queueing of all that began', () => {
    const stats = statsOf(
      { firedAt: 1010, startedAt: 1030, finishedAt: 1060 },
      { kind: 'manual', firedAt: 1011, startedAt: 1032, finishedAt: 1063 },
      { status: 'skipped', reason: 'precheck', firedAt: 1012, startedAt: 1034, finishedAt: 1066 },
      { status: 'running', firedAt: 1013, startedAt: 1036, finishedAt: null },
      { status: 'fail', reason: 'cancelled', firedAt: 1014, startedAt: null, finishedAt: 1900 },
    );
    expect(stats.lateness).toMatchObject({ count: 3, maxMs: 14 });
    expect(stats.queueing).toMatchObject({ count: 4, maxMs: 23 });
    expect(stats.duration).toMatchObject({ count: 2, maxMs: 31 });
  });

  it('has no negative span, whatever the clocks of two nodes say', () => {
    const { lateness, queueing, duration } = statsOf({ firedAt: 990, startedAt: 980, finishedAt: 970 });
    for (const spread of [lateness, queueing, duration]) expect(spread).toMatchObject({ count: 1, maxMs: 0 });
  });
});
