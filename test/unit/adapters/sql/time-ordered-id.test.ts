import fc from 'fast-check';
import { v7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { idBound } from '../../../../src/adapters/sql/time-ordered-id.js';

describe('idBound', () => {
  it('parts the ids made before an instant from those made at it or later', () => {
    const instant = fc.integer({ min: 0, max: Date.UTC(9999, 0, 1) });
    fc.assert(
      fc.property(instant, instant, (bound, made) => {
        expect(v7({ msecs: made }) >= idBound(bound)).toBe(made >= bound);
      }),
    );
  });

  it('is below every id before 1970, and takes parts of milliseconds', () => {
    expect(idBound(-5)).toBe(idBound(0));
    expect(idBound(1000.7)).toBe(idBound(1000));
  });
});
