import { AxError } from '../../domain/errors.js';
import { type Clock } from '../../ports/clock.js';
import { type Logger } from '../../ports/logger.js';
import { type Metrics } from '../../ports/metrics.js';
import { type TimeReference } from '../../ports/time-reference.js';
import { type ClockReading, type Correction, type ReferenceClock, STEP_MS } from './reference-clock.js';

const EVERY_MS = 10_000;
const SAMPLES = 5;
/** Half of it is the error of the reading. */
const LONGEST_ROUND_TRIP_MS = 1000;

/**
 * Reads the reference, corrects the clock by it, and tells how far the machine's wall clock is off. Of several readings the one with
 * the shortest round trip counts. While the reference is away the clock goes on from the last one.
 */
export class MeasureOffset {
  private isBeyondLimit = false;
  private isFar = false;
  private isAway = false;

  constructor(
    private readonly deps: {
      readonly reference: TimeReference;
      /** The machine's own clocks. */
      readonly machine: Clock;
      readonly clock: ReferenceClock;
      readonly metrics: Metrics;
      readonly logger: Logger;
      /** A wall clock that is off by more is logged. */
      readonly limitMs: number;
    },
  ) {}

  /** Measures every ten seconds; a failed measurement is logged once per outage and ends nothing. */
  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.deps.machine.sleep(EVERY_MS, stop);
      if (stop.aborted) return;
      try {
        await this.measure();
        if (this.isAway) this.deps.logger.info({}, 'the time reference answers again');
        this.isAway = false;
      } catch (error) {
        if (!this.isAway) {
          const message =
            'the time reference does not answer, the monotonic clock goes on from its last answer';
          this.deps.logger.warn({ err: error }, message);
        }
        this.isAway = true;
      }
    }
  }

  /** One measurement. @throws AxError `unavailable` when the reference is away or answers too slowly; then the clock is as before. */
  async measure(): Promise<void> {
    const { clock, metrics } = this.deps;
    const reading = await this.read();
    const { kind, byMs } = clock.follow(reading);
    const offsetMs = reading.referenceMs - reading.wallMs;
    metrics.gauge('clock_offset_seconds', {}, offsetMs / 1000);
    metrics.gauge('clock_offset_error_seconds', {}, reading.errorMs / 1000);
    metrics.gauge('clock_correction_seconds', {}, kind === 'slew' ? byMs / 1000 : 0);
    const facts = { offset_ms: round(offsetMs), error_ms: round(reading.errorMs) };
    this.tellOffset(Math.abs(offsetMs) - reading.errorMs, facts);
    this.tellCorrection({ kind, byMs }, facts);
  }

  private tellOffset(offMs: number, facts: Readonly<Record<string, unknown>>): void {
    const { logger, limitMs } = this.deps;
    const isBeyond = offMs > limitMs;
    if (isBeyond && !this.isBeyondLimit) {
      logger.warn(
        { ...facts, limit_ms: limitMs },
        "this machine's clock is off; corrected, but mend its NTP",
      );
    }
    if (!isBeyond && this.isBeyondLimit)
      logger.info({ ...facts, limit_ms: limitMs }, "this machine's clock is right again");
    this.isBeyondLimit = isBeyond;
  }

  private tellCorrection({ kind, byMs }: Correction, facts: Readonly<Record<string, unknown>>): void {
    const { logger } = this.deps;
    const told = { ...facts, by_ms: round(byMs) };
    if (kind === 'start') logger.info(told, 'time comes from the reference');
    if (kind === 'step') logger.warn(told, 'time was set, as reference and wall clock agree');
    const isFar = kind === 'slew' && Math.abs(byMs) > STEP_MS;
    if (isFar && !this.isFar) {
      const message = 'the time reference was set or replaced by another; its time is approached slowly';
      logger.error(told, message);
    }
    this.isFar = isFar;
  }

  private async read(): Promise<ClockReading> {
    const { reference, machine } = this.deps;
    let best: ClockReading | null = null;
    for (let n = 0; n < SAMPLES; n += 1) {
      const sentAt = machine.monotonicMs();
      const referenceMs = await reference.nowMs();
      const wallMs = machine.now();
      const errorMs = (machine.monotonicMs() - sentAt) / 2;
      if (errorMs * 2 > LONGEST_ROUND_TRIP_MS || errorMs >= (best?.errorMs ?? Infinity)) continue;
      best = { referenceMs, wallMs: wallMs - errorMs, monotonicMs: sentAt + errorMs, errorMs };
    }
    if (best !== null) return best;
    throw new AxError(
      'unavailable',
      `the time reference took more than ${LONGEST_ROUND_TRIP_MS} ms to answer, ${SAMPLES} times in a row`,
    );
  }
}

const round = (ms: number): number => Math.round(ms * 10) / 10;
