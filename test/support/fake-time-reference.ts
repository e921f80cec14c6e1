import { AxError } from '../../src/domain/errors.js';
import { type Clock } from '../../src/ports/clock.js';
import { type TimeReference } from '../../src/ports/time-reference.js';

/** A reference that is ahead of a machine's monotonic clock, and how it is reached. Tests change its fields as they go. */
export class FakeTimeReference implements TimeReference {
  isAway = false;
  /** Ways of the coming calls, there and back; the last one stays. */
  ways: [thereMs: number, backMs: number][] = [[0, 0]];
  reads = 0;

  constructor(
    private readonly machine: Clock,
    /** Reference − monotonic clock. */
    public aheadMs: number = machine.now() - machine.monotonicMs(),
    /** Ms that it gains on the monotonic clock per ms. */
    public drift = 0,
  ) {}

  /** What it shows, without a way. */
  get time(): number {
    return this.aheadMs + this.machine.monotonicMs() * (1 + this.drift);
  }

  async nowMs(): Promise<number> {
    this.reads += 1;
    if (this.isAway) throw new AxError('unavailable', 'the reference is away');
    const [thereMs, backMs] = (this.ways.length > 1 ? this.ways.shift() : this.ways[0]) ?? [0, 0];
    if (thereMs > 0) await this.machine.sleep(thereMs);
    const { time } = this;
    if (backMs > 0) await this.machine.sleep(backMs);
    return time;
  }
}
