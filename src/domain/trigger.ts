import { type Json } from './json.js';

export type TriggerKind = 'schedule' | 'manual';

/** `[start, end]`, epoch ms, both inclusive: fired within it is on time. */
export interface TriggerWindow {
  readonly start: number;
  readonly end: number;
}

export const triggerWindow = (start: number, windowSec: number): TriggerWindow => ({
  start,
  end: start + windowSec * 1000,
});

/** Identity of a run: the same three values never make a second event. */
export interface SlotKey {
  readonly taskId: string;
  readonly kind: TriggerKind;
  /** Epoch ms. */
  readonly slot: number;
}

/**
 * Until when a run whose task has no room for it may begin to wait under the overlap policy `skip`, epoch ms: later than a trigger window
 * after it was fired it came too late to count as bunched with others.
 */
export const joinsUntil = ({
  windowStart,
  windowEnd,
  firedAt,
}: Pick<TriggerEvent, 'windowStart' | 'windowEnd' | 'firedAt'>): number => firedAt + windowEnd - windowStart;

/** The immutable fact that one slot was decided. The execution with the same id says what became of it. */
export interface TriggerEvent extends SlotKey {
  /** Time-ordered UUID (RFC 9562, version 7). */
  readonly id: string;
  /** The slot, and its jitter. */
  readonly windowStart: number;
  readonly windowEnd: number;
  /** When the coordinator decided, epoch ms. */
  readonly firedAt: number;
  /** Coordinator node. */
  readonly node: string;
  /** Fired past its window, by the misfire policy. */
  readonly isMisfire: boolean;
  /** Last slot of a range that was skipped as a whole; null for a single slot. */
  readonly rangeEnd: number | null;
  /** W3C Trace Context `traceparent` of the run. */
  readonly traceparent: string;
  /** A manual run's own params; absent: the task's. */
  readonly params?: Exclude<Json, null>;
  /** What the queue called its current life when the event was made (see the Queue port). */
  readonly queueEpoch: string;
}
