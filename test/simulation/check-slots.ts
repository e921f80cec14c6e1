import { type AuditEntry } from '../../src/ports/audit.js';
import { isLeftOut, type Reign, reignsOf, slotsOf } from './oracle.js';
import { MAX_SKEW_MS } from './plan.js';
import { type StoredEvent } from './watched-store.js';

export interface Violation {
  readonly rule: string;
  readonly taskId: string;
  /** Empty if there is no event. */
  readonly executionId: string;
  /** True time near which it happened, epoch ms. */
  readonly at: number;
  readonly text: string;
}

/** Two clocks may be apart by this much. */
export const SKEW_MS = 2 * MAX_SKEW_MS;
/** A slot this near to the time when its task was disabled or deleted may still have been undecided, because of a fault at that time. */
export const UNDECIDED_MS = 60_000;
/** An event is judged by a clock reading up to this much older than its commit: the part of a lease in which a leader may act. */
const LEASE_MS = 5000;

/**
 * Rules of slots: each expected one has exactly one event or lies in one skipped range; no others have any; fired in the window or flagged;
 * those that a calendar leaves out end so, and no others.
 */
export function checkSlots(audit: readonly AuditEntry[], events: readonly StoredEvent[]): Violation[] {
  const reigns = reignsOf(audit);
  const scheduled = events.filter(({ kind }) => kind === 'schedule');
  const tasks = new Set([...reigns.map(({ taskId }) => taskId), ...scheduled.map(({ taskId }) => taskId)]);
  return [...tasks].flatMap((task) => {
    const own = scheduled.filter(({ taskId }) => taskId === task);
    return checkTask(
      task,
      reigns.filter(({ taskId }) => taskId === task),
      own,
    );
  });
}

function checkTask(taskId: string, reigns: readonly Reign[], events: readonly StoredEvent[]): Violation[] {
  const last = Math.max(0, ...events.map(({ slot, rangeEnd }) => rangeEnd ?? slot));
  const covers = new Map<number, StoredEvent[]>();
  const allowed = new Set<number>();
  const required = new Set<number>();
  /** What may have become of a slot: near an edit both. */
  const mayFire = new Set<number>();
  const mayBeLeftOut = new Set<number>();
  for (const { schedule, from, to, isReplaced } of reigns) {
    for (const slot of slotsOf(schedule, from - SKEW_MS, Math.min(to + SKEW_MS, last))) {
      allowed.add(slot);
      (isLeftOut(schedule, slot) ? mayBeLeftOut : mayFire).add(slot);
    }
    const until = to === Infinity ? last : to - SKEW_MS - (isReplaced ? 0 : UNDECIDED_MS);
    for (const slot of slotsOf(schedule, from + SKEW_MS, until)) required.add(slot);
  }
  const slots = [...new Set([...allowed, ...required])];
  for (const event of events) {
    const { slot: first, rangeEnd } = event;
    const covered = rangeEnd === null ? [first] : slots.filter((slot) => slot >= first && slot <= rangeEnd);
    for (const slot of covered) covers.set(slot, [...(covers.get(slot) ?? []), event]);
  }
  const told = (rule: string, slot: number, text: string, event?: StoredEvent): Violation => {
    return {
      rule,
      taskId,
      executionId: event?.id ?? '',
      at: event?.recordedAt ?? slot,
      text: `${taskId}: ${text}`,
    };
  };
  const lost = [...required]
    .filter((slot) => !covers.has(slot))
    .map((slot) => told('lost', slot, `slot ${slot} has no event`));
  const doubled = [...covers].flatMap(([slot, [first, second]]) =>
    first === undefined || second === undefined
      ? []
      : [told('doubled', slot, `slot ${slot} has events ${first.id} and ${second.id}`, second)],
  );
  const stray = events
    .filter(({ slot, rangeEnd }) => !allowed.has(slot) || (rangeEnd !== null && !allowed.has(rangeEnd)))
    .map((event) =>
      told('stray', event.slot, `slot ${event.slot} of event ${event.id} was not expected`, event),
    );
  const misjudged = [...covers].flatMap(([slot, own]) =>
    own
      .filter(
        ({ reason }) => allowed.has(slot) && !(reason === 'calendar' ? mayBeLeftOut : mayFire).has(slot),
      )
      .map((event) =>
        told('calendar', slot, `slot ${slot} of event ${event.id} ended as ${event.reason}`, event),
      ),
  );
  return [
    ...lost,
    ...doubled,
    ...stray,
    ...misjudged,
    ...events.flatMap((event) => outsideWindow(event, told)),
  ];
}

function outsideWindow(
  event: StoredEvent,
  told: (rule: string, slot: number, text: string, event: StoredEvent) => Violation,
): Violation[] {
  const { slot, windowStart, windowEnd, firedAt, recordedAt, rangeEnd } = event;
  const isFlagged = event.isMisfire;
  const isSkip = event.reason === 'misfire';
  const isLeftOutEvent = event.reason === 'calendar';
  const isOnTime = isLeftOutEvent || (firedAt >= windowStart && firedAt <= windowEnd);
  const problems = [
    ...(windowStart === slot ? [] : ['its window does not start at its slot']),
    ...(isFlagged === isOnTime ? [isOnTime ? 'is flagged and on time' : 'is late and not flagged'] : []),
    ...(isSkip && !isFlagged ? ['was skipped as a misfire without the flag'] : []),
    ...(rangeEnd !== null && !isSkip && !isLeftOutEvent ? ['is a range that was not skipped'] : []),
    ...(recordedAt < windowStart - SKEW_MS ? [`was recorded ${windowStart - recordedAt} ms early`] : []),
    ...(!isFlagged && !isLeftOutEvent && recordedAt > windowEnd + SKEW_MS + LEASE_MS
      ? [`was recorded ${recordedAt - windowEnd} ms past its window, not flagged`]
      : []),
  ];
  return problems.map((text) => told('window', slot, `event ${event.id} of slot ${slot} ${text}`, event));
}
