import { type StopReason } from '../../ports/executor.js';

const STOP_REASONS: ReadonlySet<unknown> = new Set<StopReason>([
  'cancelled',
  'replaced',
  'drained',
  'claim_lost',
]);

const isStopReason = (reason: unknown): reason is StopReason => STOP_REASONS.has(reason);

/** Why the signal was aborted; an unknown reason counts as a cancellation. */
export const stopReasonOf = (signal: AbortSignal): StopReason =>
  isStopReason(signal.reason) ? signal.reason : 'cancelled';
