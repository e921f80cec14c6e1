import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../../../src/adapters/system/system-clock.js';
import { UuidIds } from '../../../../src/adapters/system/uuid-ids.js';
import { FakeClock } from '../../../support/fake-clock.js';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const instantOf = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

describe('UuidIds', () => {
  it('gives UUIDs of version 7 whose order is that of the calls', () => {
    const maker = new UuidIds(new SystemClock());
    const ids = Array.from({ length: 20_000 }, () => maker.next());
    expect(ids.every((id) => V7.test(id))).toBe(true);
    expect(ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? ''))).toBe(true);
  });

  it('gives different ones on two nodes in the same millisecond', () => {
    const clock = new FakeClock();
    const makers = [new UuidIds(clock), new UuidIds(clock)];
    const ids = makers.flatMap((maker) => Array.from({ length: 5000 }, () => maker.next()));
    expect(new Set(ids).size).toBe(10_000);
  });

  it('keeps the order when the clock steps back', () => {
    const clock = new FakeClock();
    const ids = new UuidIds(clock);
    const before = ids.next();
    clock.set(clock.now() - 3_600_000);
    expect(ids.next() > before).toBe(true);
  });

  it("carries the instant of the node's clock, whatever the machine's shows", () => {
    const clock = new FakeClock(Date.UTC(2040, 0, 1));
    const ids = new UuidIds(clock);
    expect(instantOf(ids.next())).toBe(Date.UTC(2040, 0, 1));
    clock.set(Date.UTC(2040, 0, 2));
    expect(instantOf(ids.next())).toBe(Date.UTC(2040, 0, 2));
  });
});
