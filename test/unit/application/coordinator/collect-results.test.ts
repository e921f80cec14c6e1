import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CollectResults } from '../../../../src/application/coordinator/collect-results.js';
import { Readiness } from '../../../../src/application/readiness.js';
import { AxError } from '../../../../src/domain/errors.js';
import { type ExecutionReport } from '../../../../src/domain/execution.js';
import { type ExecutionRepo } from '../../../../src/ports/execution-repo.js';
import { type Results } from '../../../../src/ports/results.js';
import { BASE, buildReport } from '../../../support/builders.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { total, valuesOf } from '../../../support/measured.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';

const away = () => new AxError('unavailable', 'the store is away');
const isBad = ({ message }: ExecutionReport) => message === 'bad';

describe('CollectResults', () => {
  let clock: FakeClock;
  let stream: FakeStream;
  let applied: (readonly ExecutionReport[])[];
  let apply: (reports: readonly ExecutionReport[]) => void;
  let metrics: RecordingMetrics;
  let logger: RecordingLogger;
  let readiness: Readiness;
  let stop: AbortController;
  let running: Promise<void> | null;
  let collector: CollectResults;

  beforeEach(() => {
    clock = new FakeClock();
    stream = new FakeStream(clock);
    applied = [];
    apply = () => undefined;
    metrics = new RecordingMetrics();
    logger = new RecordingLogger();
    readiness = new Readiness(clock, 15_000);
    stop = new AbortController();
    running = null;
    const executions: Pick<ExecutionRepo, 'apply'> = {
      apply: async (reports) => {
        apply(reports);
        stream.calls.push('apply');
        applied.push(reports);
      },
    };
    collector = new CollectResults({
      results: stream,
      executions: executions as ExecutionRepo,
      clock,
      metrics,
      logger,
      readiness,
      taker: 'collector-1',
    });
  });
  afterEach(async () => {
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  const start = () => void (running = collector.run(stop.signal));
  const reports = (count: number, message: string | null = null) =>
    Array.from({ length: count }, () => buildReport({ message }));

  it('applies what has arrived, and acknowledges it only then', async () => {
    const batch = reports(3);
    stream.add(...batch);
    start();
    await clock.advance(0);
    expect(applied).toEqual([batch]);
    expect(stream.calls.slice(0, 3)).toEqual(['take', 'apply', 'acknowledge']);
    expect(stream.waiting).toEqual([]);
    expect(total(metrics, 'results_applied_total')).toBe(3);
    expect(readiness.report().isReady).toBe(true);
  });

  it('keeps a batch while the store is away, and applies that same batch when it is back', async () => {
    const batch = reports(3);
    stream.add(...batch);
    apply = () => {
      throw away();
    };
    start();
    await clock.advance(5000);
    stream.add(buildReport());
    expect(stream.calls).toEqual(['take']);
    expect(readiness.report().parts).toEqual([
      { part: 'collector', isReady: false, problem: 'the store is away' },
    ]);
    apply = () => undefined;
    await clock.advance(500);
    expect(applied[0]).toEqual(batch);
    expect(applied[1]).toHaveLength(1);
    expect(total(metrics, 'poison_messages_total')).toBe(0);
    expect(readiness.report().isReady).toBe(true);
  });

  it('does not acknowledge when the stream was away, and does so with the next turn', async () => {
    stream.add(buildReport());
    stream.isMute = true;
    start();
    await clock.advance(1000);
    expect(stream.waiting).toHaveLength(1);
    stream.isMute = false;
    await clock.advance(500);
    expect(stream.waiting).toEqual([]);
    expect(total(metrics, 'results_applied_total')).toBe(1);
    expect(stream.calls.filter((call) => call === 'take')).toHaveLength(2);
  });

  it.each([
    ['as refused', () => new AxError('invalid_input', 'a value does not fit')],
    ['by a bug', () => new TypeError('cannot read undefined')],
  ])('finds the one report that the store fails %s, and applies all others', async (_, error) => {
    const bad = buildReport({ message: 'bad' });
    const good = reports(20);
    stream.add(...good.slice(0, 13), bad, ...good.slice(13));
    apply = (batch) => {
      if (batch.some(isBad)) throw error();
    };
    start();
    await clock.advance(0);
    expect(applied.flat()).toEqual(good);
    expect(stream.waiting).toEqual([]);
    expect(total(metrics, 'poison_messages_total', { stream: 'results' })).toBe(1);
    expect(total(metrics, 'results_applied_total')).toBe(20);
    const [level, facts] = logger.lines.at(-1) ?? [];
    expect([level, facts?.['report']]).toEqual(['error', bad]);
  });

  it('tries the whole batch again when the store goes away while it looks for the bad one', async () => {
    const good = reports(4);
    stream.add(buildReport({ message: 'bad' }), ...good);
    let isAway = false;
    apply = (batch) => {
      if (isAway) throw away();
      if (!batch.some(isBad)) return;
      isAway = batch.length === 1;
      throw new AxError('invalid_input', 'a value does not fit');
    };
    start();
    await clock.advance(0);
    expect(stream.calls).not.toContain('acknowledge');
    isAway = false;
    apply = (batch) => {
      if (batch.some(isBad)) throw new AxError('invalid_input', 'a value does not fit');
    };
    await clock.advance(500);
    expect(new Set(applied.flat())).toEqual(new Set(good));
    expect(stream.waiting).toEqual([]);
  });

  it.each([1, 8])(
    'loses none of %i reports when the store fails in a way that is not theirs',
    async (count) => {
      const batch = reports(count);
      stream.add(...batch);
      apply = () => {
        throw new Error('there is no such table');
      };
      start();
      await clock.advance(60_000);
      expect(stream.calls).not.toContain('acknowledge');
      expect(total(metrics, 'poison_messages_total')).toBe(0);
      expect(readiness.report().parts).toMatchObject([{ isReady: false }]);
      apply = () => undefined;
      await clock.advance(1000);
      expect(applied).toEqual([batch]);
    },
  );

  it('counts and logs reports that cannot be read', async () => {
    stream.add('?', buildReport());
    start();
    await clock.advance(0);
    expect(total(metrics, 'poison_messages_total', { stream: 'results' })).toBe(1);
    expect(applied.flat()).toHaveLength(1);
    expect(logger.lines.map(([, , message]) => message)).toContain('unreadable report dropped');
  });

  it('measures how long final results took to get here', async () => {
    const entry = { kind: 'finished', at: BASE - 2500, node: 'worker-1', detail: {} } as const;
    stream.add(buildReport({ status: 'success', entry }), buildReport());
    start();
    await clock.advance(0);
    expect(valuesOf(metrics, 'results_lag_seconds')).toEqual([2.5]);
  });

  it('applies all that has arrived before it ends', async () => {
    start();
    await clock.advance(100);
    stream.add(...reports(2500));
    stop.abort();
    await running;
    expect(applied.map((batch) => batch.length)).toEqual([1000, 1000, 500]);
    expect(stream.waiting).toEqual([]);
  });

  it('ends also when the store is away, and leaves what it could not apply in the stream', async () => {
    stream.add(buildReport());
    apply = () => {
      throw away();
    };
    start();
    await clock.advance(1200);
    stop.abort();
    await running;
    expect(stream.waiting).toHaveLength(1);
  });
});

/** A results stream that hands everything out once; what is not a report is poison. */
class FakeStream implements Results {
  readonly calls: string[] = [];
  readonly waiting: (ExecutionReport | string)[] = [];
  /** Acknowledging has no effect and no answer. */
  isMute = false;
  private taken = 0;
  private wake = () => undefined as void;

  constructor(private readonly clock: FakeClock) {}

  add(...reports: (ExecutionReport | string)[]): void {
    this.waiting.push(...reports);
    this.wake();
  }

  async take({ max, waitMs, signal, onPoison }: Parameters<Results['take']>[0]) {
    this.calls.push('take');
    if (this.taken === this.waiting.length && waitMs > 0 && !signal.aborted) {
      const arrival = new AbortController();
      this.wake = () => arrival.abort();
      await this.clock.sleep(waitMs, AbortSignal.any([signal, arrival.signal]));
    }
    const entries = this.waiting.slice(this.taken, this.taken + max);
    this.taken += entries.length;
    const poison = entries.filter((entry) => typeof entry === 'string');
    for (const text of poison) onPoison(text, new SyntaxError('not a report'));
    const reports = entries.filter((entry) => typeof entry !== 'string');
    return { reports, handles: entries.map((_, i) => String(i)) };
  }

  async acknowledge({ handles }: { readonly handles: readonly string[] }): Promise<void> {
    if (this.isMute) throw away();
    this.calls.push('acknowledge');
    this.waiting.splice(0, handles.length);
    this.taken -= handles.length;
  }

  async backlog(): Promise<{ depth: number; oldestAgeMs: number }> {
    return { depth: this.waiting.length, oldestAgeMs: 0 };
  }
}
