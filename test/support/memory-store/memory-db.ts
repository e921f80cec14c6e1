import { type Calendar } from '../../../src/domain/calendar.js';
import { AxError } from '../../../src/domain/errors.js';
import { type ExecutionReport } from '../../../src/domain/execution.js';
import { type Task } from '../../../src/domain/task.js';
import { type SlotKey, type TriggerEvent } from '../../../src/domain/trigger.js';
import { type AuditEntry } from '../../../src/ports/audit.js';
import { type Clock } from '../../../src/ports/clock.js';
import { type StoredDelivery } from './memory-hook-repo.js';

/** A commit that fails: `before` it took effect, or `after`, when only its answer is lost. */
export type CommitFault = 'before' | 'after' | null;

export interface StoredTask {
  readonly task: Task;
  readonly holdUntil: number | null;
  /** Columns that somebody with a console wrote over; null: none. */
  readonly spoilt: Readonly<Record<string, string | number | null>> | null;
}

export interface StoredCalendar {
  readonly calendar: Calendar;
  readonly isDeleted: boolean;
}

/** `recordedAt`: the store's own time, epoch ms. */
export interface RecordedTrigger {
  readonly event: TriggerEvent;
  readonly recordedAt: number;
}

/** What the reports of one execution add up to; `report` is the most advanced one, or null after an adoption. */
export interface ExecutionState {
  readonly report: ExecutionReport | null;
  readonly progress: number;
  readonly startedAt: number | null;
  readonly updatedAt: number;
}

/** The writes of one transaction, which can be undone. */
export class Transaction {
  private readonly undos: (() => void)[] = [];

  constructor(
    private readonly db: MemoryDb,
    /** Told ahead of what a SQL store would do in one statement; what it throws fails the transaction. */
    readonly statement: (sql: string) => void,
  ) {}

  get isEmpty(): boolean {
    return this.undos.length === 0;
  }

  set<K, V>(table: Map<K, V>, key: K, value: V): void {
    const before = table.get(key);
    this.undos.push(before === undefined ? () => table.delete(key) : () => table.set(key, before));
    table.set(key, value);
  }

  delete<K, V>(table: Map<K, V>, key: K): void {
    const before = table.get(key);
    if (before === undefined) return;
    this.undos.push(() => table.set(key, before));
    table.delete(key);
  }

  append<T>(list: T[], member: T): void {
    list.push(member);
    this.undos.push(() => list.pop());
  }

  audit(entry: AuditEntry): void {
    this.statement('INSERT INTO audit_log');
    this.append(this.db.audit, entry);
  }

  rollBack(): void {
    for (const undo of this.undos.reverse()) undo();
  }
}

/**
 * The tables of one store in memory. All writes of a transaction are one turn of the event loop, so nobody sees half of one; what it has
 * read before, it holds. Values are kept as they are handed over: nothing may change them afterwards.
 */
export class MemoryDb {
  readonly tasks = new Map<string, StoredTask>();
  readonly events = new Map<string, RecordedTrigger>();
  /** Slot keys to ids of events. */
  readonly slots = new Map<string, string>();
  readonly states = new Map<string, ExecutionState>();
  /** By execution, in the order of arrival; one that came twice is here twice. */
  readonly ledger = new Map<string, ExecutionReport[]>();
  /** Summaries that are owed. */
  readonly deliveries = new Map<string, StoredDelivery>();
  readonly audit: AuditEntry[] = [];
  readonly calendars = new Map<string, StoredCalendar>();
  /** Hashes by name. */
  readonly tokens = new Map<string, string>();
  /** Ids of events, by task and key. */
  readonly runKeys = new Map<string, string>();
  /** Events that have no state. */
  readonly unreported = new Map<string, true>();
  /** Executions whose state is not terminal. */
  readonly unsettled = new Map<string, true>();

  /** Tasks whose rows a transaction holds that has not ended, and its end. */
  private readonly held = new Map<string, Promise<void>>();

  /** Asked at each commit that has changed something; null while none fails. */
  commitFault: (() => CommitFault) | null = null;
  onStatement: (sql: string) => void = () => undefined;
  /** Told of each change of a state that there was. */
  onChange: (id: string, before: ExecutionState, after: ExecutionState) => void = () => undefined;

  constructor(
    readonly clock: Pick<Clock, 'now'>,
    /** Whether a slot takes one event only, as it should. */
    readonly hasUniqueSlots = true,
  ) {}

  clear(): void {
    for (const table of Object.values(this)) if (table instanceof Map) table.clear();
    this.audit.length = 0;
  }

  isHeld(taskId: string): boolean {
    return this.held.has(taskId);
  }

  /** Until no transaction holds the row of a task. */
  async untilFree(taskId: string): Promise<void> {
    for (let end = this.held.get(taskId); end !== undefined; end = this.held.get(taskId)) await end;
  }

  /** Holds the rows of tasks, which nobody else may hold, while `work` lasts. */
  async holding<T>(taskIds: readonly string[], work: () => Promise<T>): Promise<T> {
    let release = (): void => undefined;
    const end = new Promise<void>((resolve) => (release = resolve));
    for (const id of taskIds) this.held.set(id, end);
    try {
      return await work();
    } finally {
      for (const id of taskIds) this.held.delete(id);
      release();
    }
  }

  /** @throws what `work` throws, with nothing stored; AxError `unavailable` when the commit fails. */
  transaction<T>(work: (tx: Transaction) => T): T {
    const tx = new Transaction(this, this.onStatement);
    try {
      const result = work(tx);
      const fault = this.commitFault === null || tx.isEmpty ? null : this.commitFault();
      if (fault === 'before') throw lostConnection();
      if (fault === null) return result;
    } catch (error) {
      tx.rollBack();
      throw error;
    }
    throw lostConnection();
  }
}

export const slotKey = ({ taskId, kind, slot }: SlotKey): string => `${taskId} ${kind} ${slot}`;

const lostConnection = (): AxError => new AxError('unavailable', 'the store answered: connection lost');
