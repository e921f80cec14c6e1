import { type SlotKey } from '../../domain/trigger.js';

/** A run that waits its turn. */
export interface Waiter extends SlotKey {
  readonly id: string;
}

/** The lines of all tasks: runs that wait for a running mark, in the order of slot and id. */
export class InProcessLines {
  private readonly byTask = new Map<string, Waiter[]>();

  of(taskId: string): readonly Waiter[] {
    return this.byTask.get(taskId) ?? [];
  }

  /** Idempotent. */
  join(waiter: Waiter): void {
    const line = this.byTask.get(waiter.taskId) ?? [];
    if (line.some(({ id }) => id === waiter.id)) return;
    const place = line.findIndex((other) => isAhead(waiter, other));
    line.splice(place < 0 ? line.length : place, 0, waiter);
    this.byTask.set(waiter.taskId, line);
  }

  leave({ taskId, id }: Pick<Waiter, 'taskId' | 'id'>): void {
    const left = this.of(taskId).filter((waiter) => waiter.id !== id);
    if (left.length > 0) this.byTask.set(taskId, left);
    else this.byTask.delete(taskId);
  }

  has({ taskId, id }: Pick<Waiter, 'taskId' | 'id'>): boolean {
    return this.of(taskId).some((waiter) => waiter.id === id);
  }

  /** How many of a line come before this one, which may stand in it or not. */
  countAhead(waiter: Waiter): number {
    return this.of(waiter.taskId).filter((other) => isAhead(other, waiter)).length;
  }
}

const isAhead = (a: Waiter, b: Waiter): boolean => a.slot < b.slot || (a.slot === b.slot && a.id < b.id);
