import { describe, expect, it } from 'vitest';
import { TimeZone } from '../../../src/domain/cron/time-zone.js';
import { cronOf, slotsAfter } from './cron-of.js';
import { sweep } from './cron-sweep.js';

const ZONES = Intl.supportedValuesOf('timeZone');
/** `AX_SWEEP=50 npx vitest run --project unit cron-sweep` asks all: 50 expressions in each zone (docs/cron.md). */
const PER_ZONE = Number(process.env['AX_SWEEP'] ?? 2);
const SEED = Number(process.env['AX_SWEEP_SEED'] ?? 1);

describe('every time zone', () => {
  it('has only slots that the expression has, each later than the last', { timeout: 600_000 }, () => {
    const swept = sweep(ZONES, PER_ZONE, SEED, 2024);
    expect(swept.expressions).toBe(ZONES.length * PER_ZONE);
    expect(swept.slots).toBeGreaterThan(swept.expressions * 10);
  });

  it('shows what the runtime shows, all the year round since 1970', { timeout: 60_000 }, () => {
    const years = [1970, 1975, 1983, 1994, 2000, 2007, 2011, 2018, 2025, 2026, 2040, 2090];
    for (const name of ZONES) {
      const zone = TimeZone.of(name);
      const format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
      for (const [i, year] of years.entries()) {
        const instant = Date.UTC(year, (i * 5 + name.length) % 12, 1 + (i % 28), i, 30);
        const [, sign, hour, minute, second = '0'] =
          /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(format.format(instant)) ?? [];
        const size = Number(hour ?? 0) * 3600 + Number(minute ?? 0) * 60 + Number(second);
        const offsetMs = (sign === '-' ? -size : size) * 1000 || 0;
        expect({ name, instant, offsetMs: zone.stretchAt(instant).offsetMs || 0 }).toEqual({
          name,
          instant,
          offsetMs,
        });
      }
    }
  });

  it.each([
    ['Asia/Gaza', '2040-10-23T12:00:00Z'],
    ['America/Noronha', '2000-10-11T12:00:00Z'],
  ])('%s changes its clocks twice within a week, around %s', (name, instant) => {
    const zone = TimeZone.of(name);
    const [before, within, after] = [-8, 0, 8].map(
      (days) => zone.stretchAt(Date.parse(instant) + days * 86_400_000).offsetMs,
    );
    expect(after).toBe(before);
    expect(within).not.toBe(before);
  });
});

it('the last Friday of the month, 14:00 in New York, over ten years', () => {
  const expected: string[] = [];
  for (let year = 2026; year < 2036; year++) {
    for (let month = 0; month < 12; month++) {
      const last = new Date(Date.UTC(year, month + 1, 0));
      last.setUTCDate(last.getUTCDate() - ((last.getUTCDay() + 2) % 7));
      expected.push(`${last.toISOString().slice(0, 10)} 14:00`);
    }
  }
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'America/New_York',
    dateStyle: 'short',
    timeStyle: 'short',
  });
  for (const [expr, dialect] of [
    ['0 14 * * 5L', 'unix'],
    ['0 14 * * FRIL', 'unix'],
    ['0 0 14 ? * 6L', 'quartz'],
  ] as const) {
    const cron = cronOf(expr, 'America/New_York', { dialect });
    const slots = slotsAfter(cron, Date.UTC(2026, 0, 1, 5), 120);
    expect(slots.map((slot) => format.format(slot))).toEqual(expected);
  }
});
