import { BACKLOG_PACE_MS } from '../../domain/misfire.js';
import { type Task } from '../../domain/task.js';
import { type TriggerEvent } from '../../domain/trigger.js';
import { type Queue } from '../../ports/queue.js';
import { type DecidedBatch } from '../../ports/trigger-repo.js';

interface Late {
  /** Fired and not known to have finished. */
  events: readonly TriggerEvent[];
  patientUntil: number;
  /** Its runs take longer than patience lasts, or nobody runs them. */
  readonly isSlow: boolean;
}

/** How long a slot waits for late ones, in distances between two slots: below one, so that every backlog shrinks. */
const PATIENCE = 0.75;
/** Of a task whose runs take longer than that: they overlap anyway. */
const SLOW_PATIENCE = 0.5;

/**
 * Late slots of one task wait for room. Fired all at once they would overlap each other, for no reason but ax's own lateness. So a slot
 * waits while `max_concurrent` late ones before it have not ended, at most three quarters of the time between two slots. The first slot on
 * time waits for the last late one, too, as far as its window allows. Known to this leader only: another one starts with the pace alone,
 * and the claims see to the rest (see the overlap policy `skip` in the Claims port).
 */
export class Backlog {
  private readonly late = new Map<string, Late>();

  constructor(private readonly queue: Queue) {}

  /** Learns which late runs have ended; asks the queue only while there are any. @throws AxError `unavailable`. */
  async refresh(): Promise<void> {
    const events = [...this.late.values()].flatMap((late) => late.events);
    if (events.length === 0) return;
    const states = await this.queue.states(events);
    const open = new Set(
      events.filter((_, i) => states[i] !== 'finished' && states[i] !== 'unknown').map(({ id }) => id),
    );
    for (const [taskId, late] of this.late) {
      late.events = late.events.filter(({ id }) => open.has(id));
      if (late.events.length === 0) this.late.delete(taskId);
    }
  }

  /** Until when a slot waits, epoch ms; null if it may fire now. One still on time never waits past its window. */
  holdUntil({ id, policy }: Task, windowStart: number, now: number): number | null {
    const late = this.late.get(id);
    if (late === undefined || late.events.length < policy.maxConcurrent) return null;
    const windowEnd = windowStart + policy.windowSec * 1000;
    const latest =
      now > windowEnd ? late.patientUntil : Math.min(late.patientUntil, windowEnd - BACKLOG_PACE_MS);
    return now >= latest ? null : Math.min(now + BACKLOG_PACE_MS, latest);
  }

  /** Takes note of what was recorded, with the cursors that were stored for it. */
  note(recorded: DecidedBatch['fired'], advances: DecidedBatch['advances']): void {
    const cursors = new Map(advances.map((advance) => [advance.taskId, advance]));
    for (const { event, task } of recorded) {
      const { nextSlot = null, holdUntil = null } = cursors.get(task.id) ?? {};
      const isBehind = holdUntil !== null && holdUntil <= event.firedAt + BACKLOG_PACE_MS;
      const isLate = event.firedAt > event.windowStart + BACKLOG_PACE_MS;
      if (nextSlot === null || !(isBehind || isLate)) {
        this.late.delete(task.id);
        continue;
      }
      const { events = [], isSlow: wasSlow = false } = this.late.get(task.id) ?? {};
      const isSlow = wasSlow || events.length >= task.policy.maxConcurrent;
      const patienceMs = (isSlow ? SLOW_PATIENCE : PATIENCE) * (nextSlot - event.slot);
      const patientUntil = event.firedAt + Math.max(BACKLOG_PACE_MS, patienceMs);
      this.late.set(task.id, { events: [...events, event], patientUntil, isSlow });
    }
  }
}
