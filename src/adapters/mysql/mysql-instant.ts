const DAY_MS = 86_400_000;
const TWO_DIGITS = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));
const two = (n: number): string => TWO_DIGITS[n] ?? '';

/** The day that was formatted last: instants of one batch lie close together, and a Date for each costs more than the rest. */
let lastDay = 0;
let lastDayText = '1970-01-01';

/** Epoch ms as a MySQL `DATETIME(3)` literal, UTC. */
export function toDatetime(epochMs: number): string {
  const day = Math.floor(epochMs / DAY_MS);
  if (day !== lastDay) {
    lastDayText = new Date(day * DAY_MS).toISOString().slice(0, -14);
    lastDay = day;
  }
  const ms = Math.floor(epochMs - day * DAY_MS);
  const sec = Math.floor(ms / 1000);
  const time = `${two(Math.floor(sec / 3600))}:${two(Math.floor(sec / 60) % 60)}:${two(sec % 60)}`;
  return `${lastDayText} ${time}.${String(ms % 1000).padStart(3, '0')}`;
}

const digits = (text: string, start: number, end: number): number => Number(text.slice(start, end));

/** The epoch ms of `YYYY-MM-DD hh:mm:ss[.f…]` in UTC, as MySQL prints a DATETIME; NaN for anything else, zero dates included. */
export const fromDatetime = (text: string): number =>
  text.length < 19 || text.startsWith('0000')
    ? NaN
    : Date.UTC(
        digits(text, 0, 4),
        digits(text, 5, 7) - 1,
        digits(text, 8, 10),
        digits(text, 11, 13),
        digits(text, 14, 16),
        digits(text, 17, 19),
        digits(text.slice(20).padEnd(3, '0'), 0, 3),
      );
