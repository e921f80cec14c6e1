import { DEFAULT_CRON, DST_GAPS, DST_OVERLAPS, parseCron } from '../../../src/domain/cron.js';
import fc from 'fast-check';
import { anyCron, type DrawnCron } from './any-cron.js';

const DAY_MS = 86_400_000;
/** Instants asked of one expression: all of it if it is rare, else from so many places. */
const STEPS = 40;
const PLACES = 12;

export interface Swept {
  readonly zones: number;
  readonly expressions: number;
  readonly slots: number;
}

/**
 * Asks `perZone` random expressions in each zone for slots over five years. A slot must come after the question, show on the zone's clocks
 * what the expression says, and come before any other that it says there.
 * @throws Error that names the expression, zone, rule and instant.
 */
export function sweep(zones: readonly string[], perZone: number, seed: number, fromYear: number): Swept {
  const begin = Date.UTC(fromYear, 0);
  const length = 5 * 366 * DAY_MS;
  const drawn = fc.sample(fc.oneof(anyCron(), anyCron({ hasSeconds: true })), {
    numRuns: zones.length * perZone,
    seed,
  });
  let slots = 0;
  for (const [i, cron] of drawn.entries()) {
    const timezone = zones[i % zones.length] as string;
    slots += sweepOne(cron, timezone, i, begin, length);
  }
  return { zones: zones.length, expressions: drawn.length, slots };
}

function sweepOne(drawn: DrawnCron, timezone: string, i: number, begin: number, length: number): number {
  const dstGap = DST_GAPS[i % 2] as (typeof DST_GAPS)[number];
  const dstOverlap = DST_OVERLAPS[i % 3] as (typeof DST_OVERLAPS)[number];
  const cron = parseCron({ ...DEFAULT_CRON, expr: drawn.expr, timezone, dstGap, dstOverlap });
  const clock = wallReader(timezone);
  let slots = 0;
  const fail = (what: string, at: number) => {
    const rule = `${drawn.expr} in ${timezone}, ${dstGap}, ${dstOverlap}`;
    throw new Error(`${rule}: ${what} at ${new Date(at).toISOString()}`);
  };
  for (let place = 0; place < PLACES; place++) {
    let at = begin + Math.floor((length * place) / PLACES);
    for (let step = 0; step < STEPS / PLACES + 1; step++) {
      const slot = cron.next(at);
      if (slot === null) return fail('no slot after it', at);
      if (slot <= at) return fail('a slot that is not later', at);
      if (cron.previous(slot) !== slot) return fail('a slot that is not found backwards', slot);
      const note = cron.noteOf(slot);
      const isShown = drawn.matches(clock(slot)) || note?.kind === 'after_gap';
      if (slot % 1000 !== 0 || !isShown) return fail('a slot that the expression does not have', slot);
      if (drawn.keepsCadence && note?.kind === 'after_gap') return fail('a cadence that catches up', slot);
      slots++;
      at = slot;
      if (slot > begin + length) break;
    }
  }
  return slots;
}

/** What clocks show, by the runtime's text and not by our tables. */
function wallReader(timezone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return (instant) => Date.parse(`${format.format(instant).replace(' ', 'T')}Z`);
}
