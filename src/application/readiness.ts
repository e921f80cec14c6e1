import { type Clock } from '../ports/clock.js';

export interface PartState {
  readonly part: string;
  readonly isReady: boolean;
  /** Why it is not ready; null when it is. */
  readonly problem: string | null;
}

/**
 * Says whether this process can do its work. Each loop reports its own good and bad turns; a loop that has not reported a good turn for
 * `staleAfterMs` is not ready, and nothing is while stopping.
 */
export class Readiness {
  private readonly parts = new Map<string, { goodAt: number | null; problem: string | null }>();
  private isStopping = false;

  constructor(
    private readonly clock: Clock,
    private readonly staleAfterMs: number,
  ) {}

  /** Adds a part that must have a good turn first. */
  expect(part: string): void {
    this.parts.set(part, { goodAt: null, problem: 'has not started yet' });
  }

  good(part: string): void {
    this.parts.set(part, { goodAt: this.clock.monotonicMs(), problem: null });
  }

  bad(part: string, problem: string): void {
    this.parts.set(part, { goodAt: this.parts.get(part)?.goodAt ?? null, problem });
  }

  stopping(): void {
    this.isStopping = true;
  }

  report(): { isReady: boolean; parts: PartState[] } {
    const parts = [...this.parts].map(([part, state]) => {
      const problem = this.isStopping ? 'is stopping' : (state.problem ?? this.staleness(state.goodAt));
      return { part, isReady: problem === null, problem };
    });
    return { isReady: parts.length > 0 && parts.every((part) => part.isReady), parts };
  }

  private staleness(goodAt: number | null): string | null {
    const age = goodAt === null ? Infinity : this.clock.monotonicMs() - goodAt;
    return age <= this.staleAfterMs ? null : `has not finished a turn for ${Math.round(age)} ms`;
  }
}
