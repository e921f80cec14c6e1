import { type DrawnCron } from './any-cron.js';

export interface Shown {
  readonly instant: number;
  /** What clocks show at it, as the epoch ms at which clocks in UTC show the same. */
  readonly wall: number;
}

/** Every instant of `[from, to]` in steps of `stepMs`, and what clocks in a zone show, read from the runtime's own text. */
export function walkClock(timezone: string, from: number, to: number, stepMs: number): Shown[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const walk: Shown[] = [];
  for (let instant = from; instant <= to; instant += stepMs) {
    walk.push({ instant, wall: Date.parse(`${format.format(instant).replace(' ', 'T')}Z`) });
  }
  return walk;
}

/**
 * The slots of an expression by looking at every instant of a walk, in order. A job at fixed times makes up for missing local times at the
 * end of the gap and passes over repeated ones; a job with a cadence does neither.
 */
export function walkedSlots(cron: DrawnCron, walk: readonly Shown[], stepMs: number): number[] {
  const slots: number[] = [];
  let latest: number | null = null;
  for (const { instant, wall } of walk) {
    const isRepeated = latest !== null && wall <= latest;
    let isSlot = cron.matches(wall) && (cron.keepsCadence || !isRepeated);
    if (!cron.keepsCadence && latest !== null) {
      for (let missing = latest + stepMs; missing < wall; missing += stepMs) {
        isSlot ||= cron.matches(missing);
      }
    }
    if (isSlot) slots.push(instant);
    latest = Math.max(latest ?? wall, wall);
  }
  return slots;
}
