import { cut, LENGTHS } from '../../../src/adapters/sql/stored-text.js';
import { AxError } from '../../../src/domain/errors.js';
import { type BrokenTask, type Task } from '../../../src/domain/task.js';
import { type TriggerEvent } from '../../../src/domain/trigger.js';
import { type AuditEntry } from '../../../src/ports/audit.js';
import { type DecidedBatch, type TriggerOutcome, type TriggerRepo } from '../../../src/ports/trigger-repo.js';
import { type MemoryDb, slotKey, type StoredTask, type Transaction } from './memory-db.js';
import { applyReports } from './memory-execution-repo.js';
import { shown } from './memory-task-repo.js';

const NOTHING = { recorded: [], duplicates: [] } as const;

export class MemoryTriggerRepo implements TriggerRepo {
  constructor(
    private readonly db: MemoryDb,
    /** What goes on between a decision and its commit; its error rolls all back. */
    private readonly meanwhile: () => Promise<void> = () => Promise.resolve(),
  ) {}

  async decideDue(
    { now, limit, mayCommit }: { now: number; limit: number; mayCommit: () => boolean },
    decide: (due: readonly (Task | BrokenTask)[]) => DecidedBatch,
  ): Promise<TriggerOutcome> {
    const due = this.due(now, limit);
    if (due.length === 0) return { ...NOTHING, dueCount: 0 };
    const ids = due.map(({ task }) => task.id);
    return this.db.holding(ids, async () => {
      const batch = decide(due.map(shown));
      await this.meanwhile();
      if (!mayCommit()) return { ...NOTHING, dueCount: due.length };
      return this.db.transaction((tx) => ({ ...this.record(tx, batch), dueCount: due.length }));
    });
  }

  async nextDueAt(): Promise<number | null> {
    let first = Infinity;
    for (const { task, holdUntil } of this.db.tasks.values()) {
      if (!task.isEnabled || task.nextTriggerTime === null) continue;
      first = Math.min(first, Math.max(task.nextTriggerTime, holdUntil ?? 0));
    }
    return first === Infinity ? null : first;
  }

  async countDue(now: number): Promise<number> {
    return [...this.db.tasks.values()].filter((stored) => isDue(stored, now)).length;
  }

  async recordManual(
    event: TriggerEvent,
    runKey: string | null,
    audit: AuditEntry,
  ): Promise<{ readonly event: TriggerEvent; readonly isNew: boolean }> {
    const { tasks, runKeys, events, slots } = this.db;
    return this.db.transaction((tx) => {
      if (!tasks.has(event.taskId)) throw new AxError('not_found', `there is no task ${event.taskId}`);
      const first = runKey === null ? undefined : events.get(runKeys.get(`${event.taskId} ${runKey}`) ?? '');
      if (first !== undefined) return { event: first.event, isNew: false };
      tx.statement('INSERT INTO run_request');
      if (runKey !== null) tx.set(runKeys, `${event.taskId} ${runKey}`, event.id);
      let shift = 0;
      while (slots.has(slotKey({ ...event, slot: event.slot + shift }))) shift += 1;
      const [slot, windowStart, windowEnd] = [event.slot, event.windowStart, event.windowEnd].map(
        (at) => at + shift,
      ) as [number, number, number];
      const placed = { ...event, slot, windowStart, windowEnd };
      this.insert(tx, [placed]);
      tx.audit(audit);
      return { event: placed, isNew: true };
    });
  }

  /** Oldest first, without those that another transaction holds. */
  private due(now: number, limit: number): StoredTask[] {
    const due: StoredTask[] = [];
    for (const stored of this.db.tasks.values())
      if (isDue(stored, now) && (stored.holdUntil ?? 0) <= now && !this.db.isHeld(stored.task.id))
        due.push(stored);
    const cursorOf = ({ task }: StoredTask) => task.nextTriggerTime ?? 0;
    return due.sort((a, b) => cursorOf(a) - cursorOf(b)).slice(0, limit);
  }

  private record(tx: Transaction, batch: DecidedBatch): Omit<TriggerOutcome, 'dueCount'> {
    const events = [...batch.fired, ...batch.skipped].map(({ event }) => event);
    const refused = this.insert(tx, events);
    const skips = batch.skipped.filter(({ event }) => !refused.has(event)).map(({ report }) => report);
    if (skips.length > 0) applyReports(tx, this.db, skips);
    tx.statement('UPDATE task_meta');
    for (const { taskId, nextSlot, holdUntil } of batch.advances)
      this.change(tx, taskId, { nextTriggerTime: nextSlot, error: null }, holdUntil);
    for (const { taskId, error, holdUntil } of batch.errors)
      this.change(tx, taskId, { error: cut(error, LENGTHS.error) }, holdUntil);
    return {
      recorded: batch.fired.filter(({ event }) => !refused.has(event)),
      duplicates: events.filter((event) => refused.has(event)),
    };
  }

  /** The events whose slot is taken. */
  private insert(tx: Transaction, events: readonly TriggerEvent[]): Set<TriggerEvent> {
    const refused = new Set<TriggerEvent>();
    tx.statement('INSERT INTO trigger_event');
    for (const event of events) {
      const key = slotKey(event);
      if (this.db.hasUniqueSlots && this.db.slots.has(key)) {
        refused.add(event);
        continue;
      }
      tx.set(this.db.slots, key, event.id);
      tx.set(this.db.events, event.id, { event, recordedAt: this.db.clock.now() });
      if (!this.db.states.has(event.id)) tx.set(this.db.unreported, event.id, true);
    }
    return refused;
  }

  private change(tx: Transaction, id: string, change: Partial<Task>, holdUntil: number | null): void {
    const stored = this.db.tasks.get(id);
    if (stored === undefined) return;
    tx.set(this.db.tasks, id, { ...stored, task: { ...stored.task, ...change }, holdUntil });
  }
}

const isDue = ({ task }: StoredTask, now: number): boolean =>
  task.isEnabled && task.nextTriggerTime !== null && task.nextTriggerTime <= now;
