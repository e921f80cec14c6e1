import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../src/adapters/http/field-problems.js';
import { instantText, localText, readInstant } from '../../../../src/adapters/http/instant.js';

describe('instants at the edge', () => {
  it.each([
    ['2026-01-05T08:00:00+08:00', Date.UTC(2026, 0, 5)],
    ['2026-01-05T00:00:00Z', Date.UTC(2026, 0, 5)],
    ['2026-01-05t00:00:00.5z', Date.UTC(2026, 0, 5, 0, 0, 0, 500)],
    ['2026-01-04T19:30:00.123999-04:30', Date.UTC(2026, 0, 5, 0, 0, 0, 123)],
    ['2024-02-29T23:59:59Z', Date.UTC(2024, 1, 29, 23, 59, 59)],
    [1_767_571_200_000, Date.UTC(2026, 0, 5)],
    [0, 0],
  ])('reads %s', (value, expected) => {
    expect(readInstant(value)).toBe(expected);
  });

  it.each([
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-05T24:00:00Z',
    '2026-01-05T23:60:00Z',
    '2026-01-05T23:59:60Z',
    '2026-01-05T00:00:00+24:00',
    '2026-01-05T00:00Z',
    '2026-01-05',
    '1969-12-31T23:59:59Z',
    ' 2026-01-05T00:00:00Z',
    'tomorrow',
    '',
    1.5,
    -1,
    Date.UTC(10_000, 0),
    Infinity,
    true,
    ['2026-01-05T00:00:00Z'],
    {},
  ])('refuses %j and says what to give', (value) => {
    const refusal = readInstant(value);
    expect(refusal).toBeInstanceOf(Refusal);
    expect((refusal as Refusal).fix).toContain('RFC 3339');
  });

  it('refuses an instant without offset, which would mean something else on every machine', () => {
    expect(readInstant('2026-01-05T00:00:00')).toEqual(
      new Refusal('has no offset from UTC', 'end it with Z, or with an offset such as +08:00'),
    );
  });

  it('reads what it writes, in any zone', () => {
    const instants = fc.integer({ min: 0, max: Date.UTC(9998, 11, 31) });
    const zones = fc.constantFrom(
      'UTC',
      'Asia/Kathmandu',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Asia/Shanghai',
    );
    fc.assert(
      fc.property(instants, zones, (instant, zone) => {
        expect(readInstant(instantText(instant))).toBe(instant);
        // Before 1990 some zones had offsets with odd seconds, which RFC 3339 cannot write.
        const recent = instant + Date.UTC(1990, 0);
        if (recent < Date.UTC(9998, 11, 31)) expect(readInstant(localText(recent, zone))).toBe(recent);
      }),
    );
  });

  it.each([
    [Date.UTC(2026, 2, 8, 6, 59, 59, 7), 'America/New_York', '2026-03-08T01:59:59.007-05:00'],
    [Date.UTC(2026, 2, 8, 7), 'America/New_York', '2026-03-08T03:00:00.000-04:00'],
    [Date.UTC(2026, 0, 1), 'Asia/Kathmandu', '2026-01-01T05:45:00.000+05:45'],
    [Date.UTC(2026, 0, 1), 'UTC', '2026-01-01T00:00:00.000+00:00'],
  ])('writes %i on the clocks of %s', (instant, zone, expected) => {
    expect(localText(instant, zone)).toBe(expected);
  });
});
