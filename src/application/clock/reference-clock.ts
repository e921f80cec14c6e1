import { type Clock } from '../../ports/clock.js';

/** What the reference and the machine's clocks showed at one moment. */
export interface ClockReading {
  readonly referenceMs: number;
  /** The machine's wall clock, epoch ms. */
  readonly wallMs: number;
  readonly monotonicMs: number;
  /** The reference was read at most this long before or after that moment. */
  readonly errorMs: number;
}

/**
 * - `start`: the first one, taken over at once;
 * - `step`: taken over at once;
 * - `slew`: approached, at most `SLEW_PER_MS` ms per ms.
 */
export interface Correction {
  readonly kind: 'start' | 'step' | 'slew';
  /** Reference − this clock, before the correction. */
  readonly byMs: number;
}

/** Larger differences between two clocks count as one of them having been set. */
export const STEP_MS = 1000;
/** 10 ms per second: no interval between two slots gets more than 1 % longer or shorter. */
export const SLEW_PER_MS = 0.01;

/**
 * The shared reference, continued by the machine's monotonic clock: the wall clock may show anything and be set at any time. Without a
 * reading yet it is the wall clock. What a reading does, with docs/decisions/0004-reference-clock.md for the reasons:
 *   the first one → step;
 *   within its own error of this clock → nothing;
 *   any difference that no other clock confirms, also that of a reference that was set or replaced → slew;
 *   more than STEP_MS, and the wall clock agrees with the reference, or both have moved on alike while the monotonic clock stood
 *   still (a suspended machine) → step.
 * Between steps it never goes back.
 */
export class ReferenceClock implements Clock {
  private last: ClockReading | null = null;
  /** Ahead of the monotonic clock by `fromMs` at `since`, and from there towards `toMs`. */
  private course = { since: 0, fromMs: 0, toMs: 0 };

  constructor(private readonly machine: Clock) {}

  now(): number {
    if (this.last === null) return this.machine.now();
    const monotonicMs = this.machine.monotonicMs();
    return Math.floor(monotonicMs + this.aheadAt(monotonicMs));
  }

  monotonicMs(): number {
    return this.machine.monotonicMs();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.machine.sleep(ms, signal);
  }

  schedule(ms: number, callback: () => void): () => void {
    return this.machine.schedule(ms, callback);
  }

  /** Corrects the clock by a reading of this moment or shortly before. */
  follow(reading: ClockReading): Correction {
    const since = this.machine.monotonicMs();
    const measured = reading.referenceMs - reading.monotonicMs;
    const fromMs = this.last === null ? reading.wallMs - reading.monotonicMs : this.aheadAt(since);
    const byMs = measured - fromMs;
    const kind = this.kindOf(reading, byMs);
    // A reading says nothing about what lies within its error.
    const slewMs = Math.sign(byMs) * Math.max(0, Math.abs(byMs) - reading.errorMs);
    this.course =
      kind === 'slew'
        ? { since, fromMs, toMs: fromMs + slewMs }
        : { since, fromMs: measured, toMs: measured };
    this.last = reading;
    return { kind, byMs };
  }

  private kindOf(reading: ClockReading, byMs: number): Correction['kind'] {
    if (this.last === null) return 'start';
    return Math.abs(byMs) > STEP_MS && isConfirmed(reading, this.last) ? 'step' : 'slew';
  }

  private aheadAt(monotonicMs: number): number {
    const { since, fromMs, toMs } = this.course;
    const mostMs = (monotonicMs - since) * SLEW_PER_MS;
    return fromMs + Math.max(-mostMs, Math.min(mostMs, toMs - fromMs));
  }
}

/** Whether the machine's wall clock speaks for the reference and against the monotonic clock. */
function isConfirmed(reading: ClockReading, last: ClockReading): boolean {
  if (Math.abs(reading.referenceMs - reading.wallMs) <= STEP_MS) return true;
  const passedMs = reading.monotonicMs - last.monotonicMs;
  const unseenMs = reading.referenceMs - last.referenceMs - passedMs;
  const wallUnseenMs = reading.wallMs - last.wallMs - passedMs;
  return unseenMs > STEP_MS && Math.abs(unseenMs - wallUnseenMs) <= STEP_MS;
}
