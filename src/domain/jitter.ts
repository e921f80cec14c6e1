import { type TaskSlots } from './timetable.js';

/**
 * When a slot fires, epoch ms: evenly within `[slot, slot + jitter]`, the same for the same task and slot at all times and on every node. Never
 * later than right before the task's next slot, so that slots fire in their order however long the jitter is.
 */
export function fireAt(slots: TaskSlots, taskId: string, slot: number): number {
  const jitterMs = slots.jitterMsOf(slot);
  if (jitterMs === 0) return slot;
  const next = slots.next(slot) ?? Infinity;
  const most = Math.min(jitterMs, next - slot - 1);
  return slot + Math.floor(share(`${taskId} ${slot}`) * (most + 1));
}

/** In `[0, 1)`: FNV-1a, and the final mix of MurmurHash3, since FNV alone hardly spreads what differs only in the last characters. */
function share(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
