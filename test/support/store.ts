import { setTimeout as pause } from 'node:timers/promises';
import { type Clock } from '../../src/ports/clock.js';
import { type AuditEntry, type AuditLog } from '../../src/ports/audit.js';
import { type CalendarRepo } from '../../src/ports/calendar-repo.js';
import { type DurationRepo } from '../../src/ports/duration-repo.js';
import { type ExecutionRepo } from '../../src/ports/execution-repo.js';
import { type HistoryRepo } from '../../src/ports/history-repo.js';
import { type HookRepo } from '../../src/ports/hook-repo.js';
import { type LoadRepo } from '../../src/ports/load-repo.js';
import { type TaskRepo } from '../../src/ports/task-repo.js';
import { type TokenRepo } from '../../src/ports/token-repo.js';
import { type TriggerRepo } from '../../src/ports/trigger-repo.js';
import { BASE } from './builders.js';

/** Wall time stands still until it is set; pauses between retries are real. */
export class SettableClock implements Clock {
  constructor(private wall = BASE) {}

  set(now: number): void {
    this.wall = now;
  }

  now(): number {
    return this.wall;
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number): Promise<void> {
    await pause(ms);
  }

  schedule(ms: number, callback: () => void): () => void {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  }
}

/** The repositories of one store, and what a suite does to them from outside. */
export interface Store {
  readonly tasks: TaskRepo;
  readonly triggers: TriggerRepo;
  readonly executions: ExecutionRepo;
  readonly tokens: TokenRepo;
  readonly audit: AuditLog;
  readonly history: HistoryRepo;
  readonly durations: DurationRepo;
  readonly loads: LoadRepo;
  readonly hooks: HookRepo;
  readonly calendars: CalendarRepo;
  readonly clock: SettableClock;
  /** Writes a value into a task's row, as someone with a console would. */
  spoil(taskId: string, column: string, value: string | number | null): Promise<void>;
  /** The statements that the store runs for `work`. */
  statementsOf(work: () => Promise<unknown>): Promise<string[]>;
  /** Makes the next statement that matches fail before it takes effect. */
  failNext(pattern: RegExp): void;
  /** Makes the commit that is about to follow fail, with nothing stored. */
  loseCommit(): void;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export type StoreFactory = () => Promise<Store>;

export const auditOf = (subject: string, action = 'task.update'): AuditEntry => ({
  at: BASE,
  actor: 'tester',
  action,
  subject,
  before: null,
  after: { subject },
});
