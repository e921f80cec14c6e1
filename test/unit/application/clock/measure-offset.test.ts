import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MeasureOffset } from '../../../../src/application/clock/measure-offset.js';
import { ReferenceClock } from '../../../../src/application/clock/reference-clock.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { FakeTimeReference } from '../../../support/fake-time-reference.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';

const SECOND = 1000;
const LIMIT_MS = 1000;

describe('MeasureOffset', () => {
  let machine: FakeClock;
  let reference: FakeTimeReference;
  let clock: ReferenceClock;
  let metrics: RecordingMetrics;
  let logger: RecordingLogger;
  let offset: MeasureOffset;
  let stop: AbortController;
  let running: Promise<void> | null;

  beforeEach(() => {
    machine = new FakeClock();
    reference = new FakeTimeReference(machine);
    clock = new ReferenceClock(machine);
    metrics = new RecordingMetrics();
    logger = new RecordingLogger();
    offset = new MeasureOffset({ reference, machine, clock, metrics, logger, limitMs: LIMIT_MS });
    stop = new AbortController();
    running = null;
  });
  afterEach(async () => {
    stop.abort();
    await running;
    expect(machine.pendingTimers).toBe(0);
  });

  const start = () => void (running = offset.run(stop.signal));
  const gauge = (name: string) => metrics.seen.findLast((measurement) => measurement.name === name)?.value;
  const lines = (level: string) => logger.lines.filter(([of]) => of === level).map(([, , text]) => text);
  /** How far the clock is from the reference, ms. */
  const lag = () => Math.abs(clock.now() - reference.time);

  async function measure(): Promise<void> {
    let isOver = false;
    const measuring = offset.measure().finally(() => (isOver = true));
    measuring.catch(() => undefined);
    while (!isOver) await machine.advance(100);
    await measuring;
  }

  it.each([10, -10])('corrects a wall clock that is %i s off and tells so', async (seconds) => {
    machine.set(machine.now() + seconds * SECOND);
    await measure();
    expect(lag()).toBeLessThan(1);
    expect(gauge('clock_offset_seconds')).toBe(-seconds);
    expect(gauge('clock_offset_error_seconds')).toBe(0);
    expect(gauge('clock_correction_seconds')).toBe(0);
    expect(lines('warn')).toEqual(["this machine's clock is off; corrected, but mend its NTP"]);
  });

  it('goes by the reading with the shortest round trip, and knows its error', async () => {
    reference.ways = [
      [0, 400],
      [300, 0],
      [20, 30],
      [0, 200],
      [100, 100],
    ];
    await measure();
    expect(reference.reads).toBe(5);
    expect(lag()).toBeLessThanOrEqual(25);
    expect(gauge('clock_offset_error_seconds')).toBe(0.025);
  });

  it('is not led astray by a slow way in one direction', async () => {
    await measure();
    start();
    reference.ways = [[0, 900]];
    await machine.advance(600 * SECOND);
    expect(lag()).toBeLessThanOrEqual(1);
    expect(lines('error')).toEqual([]);
  });

  it('ignores round trips above a second, and says that none was shorter', async () => {
    reference.ways = [
      [0, 1001],
      [900, 900],
      [0, 40],
      [5000, 0],
    ];
    await measure();
    expect(gauge('clock_offset_error_seconds')).toBe(0.02);
    reference.ways = [[0, 1001]];
    await expect(measure()).rejects.toMatchObject({ code: 'unavailable' });
    expect(metrics.seen.filter(({ name }) => name === 'clock_offset_seconds')).toHaveLength(1);
  });

  it('fails when the reference is away at start, and the clock is the wall clock', async () => {
    reference.isAway = true;
    await expect(measure()).rejects.toMatchObject({ code: 'unavailable' });
    expect(clock.now()).toBe(machine.now());
    expect(metrics.seen).toEqual([]);
  });

  it('measures every ten seconds and keeps to a reference that drifts by 0.2 ms a second', async () => {
    reference.drift = 0.0002;
    await measure();
    start();
    const reads = reference.reads;
    let worst = 0;
    for (let n = 0; n < 360; n += 1) {
      await machine.advance(10 * SECOND);
      worst = Math.max(worst, lag());
    }
    expect(reference.reads - reads).toBe(360 * 5);
    expect(worst).toBeLessThanOrEqual(4);
    expect(logger.lines).toHaveLength(1);
  });

  it('goes on while the reference is away, also over a step of the wall clock; one line tells each change', async () => {
    await measure();
    start();
    reference.isAway = true;
    machine.set(machine.now() + 10 * SECOND);
    await machine.advance(600 * SECOND);
    expect(lag()).toBeLessThan(1);
    expect(lines('warn')).toEqual([
      'the time reference does not answer, the monotonic clock goes on from its last answer',
    ]);
    reference.isAway = false;
    await machine.advance(600 * SECOND);
    expect(lag()).toBeLessThan(1);
    expect(lines('info')).toContain('the time reference answers again');
    expect(gauge('clock_offset_seconds')).toBe(-10);
  });

  it('logs once when the offset passes the limit and once when it is back', async () => {
    await measure();
    start();
    machine.set(machine.now() - 2 * SECOND);
    await machine.advance(100 * SECOND);
    expect(lines('warn')).toEqual(["this machine's clock is off; corrected, but mend its NTP"]);
    machine.set(reference.time);
    await machine.advance(100 * SECOND);
    expect(lines('info').filter((text) => text === "this machine's clock is right again")).toHaveLength(1);
    machine.set(machine.now() + LIMIT_MS);
    await machine.advance(100 * SECOND);
    expect(lines('warn')).toHaveLength(1);
  });

  it.each([30, -30])(
    'follows a reference that jumped by %i s at 10 ms a second, with one line',
    async (seconds) => {
      await measure();
      start();
      const truth = () => reference.time - seconds * SECOND;
      reference.aheadMs += seconds * SECOND;
      await machine.advance(110 * SECOND);
      expect((clock.now() - truth()) * Math.sign(seconds)).toBeGreaterThan(900);
      expect((clock.now() - truth()) * Math.sign(seconds)).toBeLessThanOrEqual(1100);
      expect(lines('error')).toEqual([
        'the time reference was set or replaced by another; its time is approached slowly',
      ]);
      expect((gauge('clock_correction_seconds') ?? 0) * Math.sign(seconds)).toBeGreaterThan(28);
      expect(gauge('clock_offset_seconds')).toBe(seconds);
      reference.aheadMs -= seconds * SECOND;
      await machine.advance(200 * SECOND);
      expect(lag()).toBeLessThan(1);
      expect(lines('error')).toHaveLength(1);
    },
  );

  it('takes over the time of a suspended machine at once, with a warning', async () => {
    await measure();
    start();
    machine.set(machine.now() + 3600 * SECOND);
    reference.aheadMs += 3600 * SECOND;
    await machine.advance(10 * SECOND);
    expect(lag()).toBeLessThan(1);
    expect(lines('warn')).toEqual(['time was set, as reference and wall clock agree']);
    expect(gauge('clock_correction_seconds')).toBe(0);
  });

  it('ends at once when stopped', async () => {
    start();
    await machine.advance(5 * SECOND);
    stop.abort();
    await running;
    expect(reference.reads).toBe(0);
  });
});
