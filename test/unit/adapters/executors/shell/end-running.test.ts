import { afterEach, describe, expect, it } from 'vitest';
import {
  endRunning,
  type EndSignal,
  type Running,
} from '../../../../../src/adapters/executors/shell/end-running.js';
import { FakeClock } from '../../../../support/fake-clock.js';
import { until } from '../../../../support/until.js';

/** Processes by name, and the signal that ends each; null: none does. */
class Crowd implements Running {
  readonly pollMs = 1;
  readonly seen: (EndSignal | null)[] = [];

  constructor(readonly alive: Map<string, EndSignal | null>) {}

  async signal(signal: EndSignal | null): Promise<readonly string[]> {
    this.seen.push(signal);
    const before = [...this.alive.keys()];
    for (const [name, end] of this.alive) {
      if (signal !== null && (end === signal || (signal === 'SIGKILL' && end !== null)))
        this.alive.delete(name);
    }
    return before;
  }
}

describe('endRunning', () => {
  const clock = new FakeClock();

  afterEach(() => {
    expect(clock.pendingTimers).toBe(0);
  });

  it('does nothing where nobody runs', async () => {
    const crowd = new Crowd(new Map());
    expect(await endRunning(crowd, { clock, graceMs: 5000 })).toEqual({ found: [], killed: [], left: [] });
    expect(crowd.seen).toEqual(['SIGTERM']);
  });

  it('ends as soon as all have ended by TERM', async () => {
    const crowd = new Crowd(new Map([['a', 'SIGTERM']]));
    expect(await endRunning(crowd, { clock, graceMs: 5000 })).toEqual({ found: ['a'], killed: [], left: [] });
    expect(crowd.seen).toEqual(['SIGTERM', null]);
  });

  it('sends no KILL before the grace is over, and then until nobody is left, newcomers too', async () => {
    const crowd = new Crowd(
      new Map([
        ['a', 'SIGTERM'],
        ['b', 'SIGKILL'],
      ]),
    );
    const ending = endRunning(crowd, { clock, graceMs: 5000 });
    await until('it looks again and again', () => crowd.seen.length > 5);
    await clock.advance(4999);
    expect(crowd.seen).not.toContain('SIGKILL');
    crowd.alive.set('c', 'SIGKILL');
    await clock.advance(1);
    expect(await ending).toEqual({ found: ['a', 'b'], killed: ['b', 'c'], left: [] });
  });

  it('kills at once without a grace', async () => {
    const crowd = new Crowd(new Map([['b', 'SIGKILL']]));
    const ending = endRunning(crowd, { clock, graceMs: 0 });
    expect(await ending).toMatchObject({ killed: ['b'], left: [] });
    expect(crowd.seen.slice(0, 2)).toEqual(['SIGTERM', 'SIGKILL']);
  });

  it('gives up what no KILL ends, and names it', async () => {
    const crowd = new Crowd(
      new Map([
        ['stuck', null],
        ['b', 'SIGKILL'],
      ]),
    );
    const ending = await endRunning(crowd, { clock, graceMs: 0 });
    expect(ending).toEqual({ found: ['stuck', 'b'], killed: ['stuck', 'b'], left: ['stuck'] });
  });
});
