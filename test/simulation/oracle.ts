import { type AuditEntry } from '../../src/ports/audit.js';

/** What the audit log keeps of a task, as far as expected slots depend on it. */
interface Definition {
  readonly isEnabled: boolean;
  readonly schedule:
    | { readonly type: 'interval'; readonly everySec: number; readonly anchorAt: number }
    | { readonly type: 'cron'; readonly expr: string; readonly calendar: unknown }
    | { readonly type: 'once'; readonly runAt: number };
}

/** A time in which one schedule of a task was in force. Instants are epoch ms by the clock of the node that made the change. */
export interface Reign {
  readonly taskId: string;
  readonly schedule: Definition['schedule'];
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
  /** Ended by another schedule, so that its slots are owed up to the end; a task that is disabled or deleted gives up what is undecided. */
  isReplaced: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Whether a calendar leaves a slot out, by its name alone. */
export function isLeftOut(schedule: Definition['schedule'], slot: number): boolean {
  if (schedule.type !== 'cron') return false;
  const [, from, to] = /"minutes-(\d+)-(\d+)"/.exec(JSON.stringify(schedule.calendar)) ?? [];
  const minute = (slot % HOUR) / MINUTE;
  return from !== undefined && minute >= Number(from) && minute < Number(to);
}

/** From the changes that users made, which each committed with its audit entry. */
export function reignsOf(audit: readonly AuditEntry[]): Reign[] {
  const reigns: Reign[] = [];
  const current = new Map<string, Reign>();
  for (const { action, subject: taskId, at, after: task } of audit) {
    if (!action.startsWith('task.') || action === 'task.run') continue;
    const after = task as Definition | null;
    const reign = current.get(taskId);
    const schedule = after?.isEnabled === true ? after.schedule : null;
    if (reign !== undefined && schedule !== null && isSame(reign.schedule, schedule)) continue;
    if (reign !== undefined) Object.assign(reign, { to: at, isReplaced: schedule !== null });
    current.delete(taskId);
    if (schedule === null) continue;
    const next = { taskId, schedule, from: at, to: Infinity, isReplaced: false };
    reigns.push(next);
    current.set(taskId, next);
  }
  return reigns;
}

const isSame = (a: Definition['schedule'], b: Definition['schedule']): boolean =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

/**
 * Slots in `(after, until]`, by arithmetic of its own: multiples of the interval after the anchor; every hour at the minutes named, in
 * UTC; or the one instant.
 */
export function slotsOf(schedule: Definition['schedule'], after: number, until: number): number[] {
  const slots: number[] = [];
  switch (schedule.type) {
    case 'interval': {
      const step = schedule.everySec * 1000;
      for (let slot = schedule.anchorAt + step; slot <= until; slot += step)
        if (slot > after) slots.push(slot);
      return slots;
    }
    case 'cron': {
      const minutes = (/^[\d,]+/.exec(schedule.expr)?.[0] ?? '').split(',').map(Number);
      for (let hour = after - (after % HOUR); hour <= until; hour += HOUR)
        for (const minute of minutes) {
          const slot = hour + minute * MINUTE;
          if (slot > after && slot <= until) slots.push(slot);
        }
      return slots;
    }
    case 'once':
      return schedule.runAt > after && schedule.runAt <= until ? [schedule.runAt] : [];
  }
}
