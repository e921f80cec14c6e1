import { type AuditEntry, type AuditLog } from '../../../src/ports/audit.js';
import { type TokenRepo } from '../../../src/ports/token-repo.js';
import { AxError } from '../../../src/domain/errors.js';
import { SettableClock, type Store } from '../store.js';
import { MemoryCalendarRepo } from './memory-calendar-repo.js';
import { MemoryDb } from './memory-db.js';
import { MemoryDurationRepo } from './memory-duration-repo.js';
import { MemoryExecutionRepo } from './memory-execution-repo.js';
import { MemoryHookRepo } from './memory-hook-repo.js';
import { MemoryHistoryRepo } from './memory-history-repo.js';
import { MemoryLoadRepo } from './memory-load-repo.js';
import { MemoryTaskRepo } from './memory-task-repo.js';
import { MemoryTriggerRepo } from './memory-trigger-repo.js';

class MemoryAuditLog implements AuditLog {
  constructor(private readonly db: MemoryDb) {}

  async append(entry: AuditEntry): Promise<void> {
    this.db.transaction((tx) => tx.audit(entry));
  }

  async list({
    subject,
    limit,
  }: {
    readonly subject?: string;
    readonly limit: number;
  }): Promise<AuditEntry[]> {
    const entries = this.db.audit.filter((entry) => subject === undefined || entry.subject === subject);
    return entries.toReversed().slice(0, limit);
  }
}

class MemoryTokenRepo implements TokenRepo {
  constructor(private readonly db: MemoryDb) {}

  async insertIfAbsent({ name, hash }: { readonly name: string; readonly hash: string }): Promise<boolean> {
    const { tokens } = this.db;
    if (tokens.has(name)) return false;
    this.db.transaction((tx) => tx.set(tokens, name, hash));
    return true;
  }

  async findByHash(hash: string): Promise<string | null> {
    for (const [name, known] of this.db.tokens) if (known === hash) return name;
    return null;
  }
}

/** A store of one process without SQL, for what needs thousands of them: it promises what the ports promise, as the contract suites show. */
export async function openMemoryStore(): Promise<Store> {
  const clock = new SettableClock();
  const db = new MemoryDb(clock);
  let recorded: string[] | null = null;
  let failing: RegExp | null = null;
  db.onStatement = (sql) => {
    recorded?.push(sql);
    if (failing?.test(sql) !== true) return;
    failing = null;
    throw new AxError('unavailable', 'failed on purpose');
  };
  return {
    tasks: new MemoryTaskRepo(db),
    triggers: new MemoryTriggerRepo(db),
    executions: new MemoryExecutionRepo(db),
    tokens: new MemoryTokenRepo(db),
    audit: new MemoryAuditLog(db),
    durations: new MemoryDurationRepo(db),
    loads: new MemoryLoadRepo(db),
    history: new MemoryHistoryRepo(db),
    hooks: new MemoryHookRepo(db),
    calendars: new MemoryCalendarRepo(db),
    clock,
    spoil: async (id, column, value) => {
      const stored = db.tasks.get(id);
      if (stored !== undefined)
        db.tasks.set(id, { ...stored, spoilt: { ...stored.spoilt, [column]: value } });
    },
    statementsOf: async (work) => {
      const statements: string[] = (recorded = []);
      await work();
      recorded = null;
      return statements;
    },
    failNext: (pattern) => {
      failing = pattern;
    },
    loseCommit: () => {
      db.commitFault = () => {
        db.commitFault = null;
        return 'before';
      };
    },
    clear: async () => {
      failing = null;
      db.clear();
    },
    close: async () => undefined,
  };
}
