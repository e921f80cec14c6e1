import { afterEach, describe, expect, it, vi } from 'vitest';
import { UuidIds } from '../../../../src/adapters/system/uuid-ids.js';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('UuidIds', () => {
  afterEach(() => void vi.useRealTimers());

  it('gives UUIDs of version 7 whose order is that of the calls, also across instances', () => {
    const [a, b] = [new UuidIds(), new UuidIds()];
    const ids = Array.from({ length: 20_000 }, (_, n) => (n % 2 === 0 ? a : b).next());
    expect(ids.every((id) => V7.test(id))).toBe(true);
    expect(ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? ''))).toBe(true);
  });

  it('keeps the order when the wall clock steps back', () => {
    const ids = new UuidIds();
    const before = ids.next();
    vi.useFakeTimers({ now: Date.now() - 3_600_000 });
    expect(ids.next() > before).toBe(true);
  });

  it('carries the instant', () => {
    vi.useFakeTimers({ now: Date.UTC(2040, 0, 1) });
    const id = new UuidIds().next();
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.UTC(2040, 0, 1));
  });
});
