import { TimeZone } from './cron/time-zone.js';

/** What clocks in `zone` (IANA) show at an instant, for people: `2026-01-05 03:00:00 +08:00`, with milliseconds if there are any. */
export function localTime(instant: number, zone: string): string {
  const { offsetMs } = TimeZone.of(zone).stretchAt(instant);
  const [day = '', time = ''] = new Date(instant + offsetMs).toISOString().slice(0, -1).split('T');
  const size = Math.round(Math.abs(offsetMs) / 60_000);
  const two = (n: number) => String(n).padStart(2, '0');
  const offset =
    size === 0 ? 'UTC' : `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${day} ${time.replace(/\.000$/, '')} ${offset}`;
}
