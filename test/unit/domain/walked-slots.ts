import { DEFAULT_CRON, type DstGap, type DstOverlap } from '../../../src/domain/cron.js';
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
 * The slots of an expression by looking at every instant of a walk, in order. A job at fixed times follows the rules for missing and repeated
 * local times; a job with a cadence catches up nothing and fires in both passes.
 */
export function walkedSlots(
  cron: DrawnCron,
  walk: readonly Shown[],
  stepMs: number,
  rules: { readonly dstGap: DstGap; readonly dstOverlap: DstOverlap } = DEFAULT_CRON,
): number[] {
  const passes = cron.keepsCadence ? 'both' : rules.dstOverlap;
  const catchesUp = !cron.keepsCadence && rules.dstGap === 'fire_after';
  const twice = new Set<number>();
  let latest = -Infinity;
  for (const { wall } of walk) {
    if (wall <= latest) twice.add(wall);
    latest = Math.max(latest, wall);
  }
  const slots: number[] = [];
  latest = walk[0]?.wall ?? NaN;
  for (const [i, { instant, wall }] of walk.entries()) {
    const pass = !twice.has(wall) ? 'both' : i > 0 && wall <= latest ? 'second' : 'first';
    let isSlot = cron.matches(wall) && (pass === 'both' || passes === 'both' || passes === pass);
    for (let missing = latest + stepMs; catchesUp && missing < wall; missing += stepMs) {
      isSlot ||= cron.matches(missing);
    }
    if (isSlot) slots.push(instant);
    latest = Math.max(latest, wall);
  }
  return slots;
}
