import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromDatetime, toDatetime } from '../../../../src/adapters/mysql/mysql-instant.js';

describe('MySQL instants', () => {
  it('are what ISO 8601 says, and come back to the millisecond', () => {
    const instant = fc.integer({ min: Date.UTC(1000, 0, 1), max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) });
    fc.assert(
      fc.property(instant, (epochMs) => {
        const text = toDatetime(epochMs);
        expect(text).toBe(new Date(epochMs).toISOString().replace('T', ' ').replace('Z', ''));
        expect(fromDatetime(text)).toBe(epochMs);
      }),
    );
  });

  it('drop parts of milliseconds, and read seconds without any', () => {
    expect(toDatetime(1999.9)).toBe('1970-01-01 00:00:01.999');
    expect(fromDatetime('2026-01-05 00:00:59')).toBe(Date.UTC(2026, 0, 5, 0, 0, 59));
    expect(fromDatetime('2026-01-05 00:00:59.5')).toBe(Date.UTC(2026, 0, 5, 0, 0, 59, 500));
  });

  it('are not read from anything else', () => {
    for (const text of ['', 'soon', '2026', '0000-00-00 00:00:00.000', 'no instant at all'])
      expect(fromDatetime(text)).toBeNaN();
  });
});
