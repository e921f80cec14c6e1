import { beforeEach, describe, expect, it } from 'vitest';
import { Readiness } from '../../../src/application/readiness.js';
import { FakeClock } from '../../support/fake-clock.js';

const STALE_MS = 15_000;

describe('Readiness', () => {
  let clock: FakeClock;
  let readiness: Readiness;
  beforeEach(() => {
    clock = new FakeClock();
    readiness = new Readiness(clock, STALE_MS);
  });

  const problems = () => readiness.report().parts.map(({ problem }) => problem);

  it('is not given while nothing is expected', () => {
    expect(readiness.report()).toEqual({ isReady: false, parts: [] });
  });

  it('needs a good turn of every part', () => {
    readiness.expect('tick');
    readiness.expect('collector');
    readiness.good('tick');
    expect(readiness.report()).toEqual({
      isReady: false,
      parts: [
        { part: 'tick', isReady: true, problem: null },
        { part: 'collector', isReady: false, problem: 'has not started yet' },
      ],
    });
    readiness.good('collector');
    expect(readiness.report().isReady).toBe(true);
  });

  it('is lost with a bad turn, which it tells, and back with a good one', () => {
    readiness.expect('tick');
    readiness.good('tick');
    readiness.bad('tick', 'the store is away');
    expect(problems()).toEqual(['the store is away']);
    expect(readiness.report().isReady).toBe(false);
    readiness.good('tick');
    expect(readiness.report().isReady).toBe(true);
  });

  it('is lost when a part has not ended a turn for too long, whatever the wall clock says', async () => {
    readiness.expect('tick');
    readiness.good('tick');
    clock.set(clock.now() + 3_600_000);
    await clock.advance(STALE_MS);
    expect(readiness.report().isReady).toBe(true);
    await clock.advance(1);
    expect(problems()).toEqual(['has not finished a turn for 15001 ms']);
  });

  it('is lost for good when the process stops', () => {
    readiness.expect('tick');
    readiness.stopping();
    readiness.good('tick');
    expect(readiness.report()).toMatchObject({ isReady: false, parts: [{ problem: 'is stopping' }] });
  });
});
