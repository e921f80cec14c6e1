import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { InProcessBroker } from '../../src/adapters/embedded/in-process-broker.js';
import { InProcessLock } from '../../src/adapters/embedded/in-process-lock.js';
import { InProcessWakeup } from '../../src/adapters/embedded/in-process-wakeup.js';
import { openSqlite, type SqliteStore } from '../../src/adapters/embedded/sqlite-store.js';
import { SqlAuditLog } from '../../src/adapters/sql/sql-audit-log.js';
import { SqlExecutionRepo } from '../../src/adapters/sql/sql-execution-repo.js';
import { SqlHistoryRepo } from '../../src/adapters/sql/sql-history-repo.js';
import { SqlHookRepo } from '../../src/adapters/sql/sql-hook-repo.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTokenRepo } from '../../src/adapters/sql/sql-token-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { type Execution, type LedgerEntry } from '../../src/domain/execution.js';
import { type Task } from '../../src/domain/task.js';
import { BASE, buildTask } from './builders.js';
import { ClockIds } from './clock-ids.js';
import { CoordinatorNode, type CoordinatorOptions } from './coordinator-node.js';
import { FakeClock } from './fake-clock.js';
import { type Link } from './link.js';
import { ScriptedExecutor } from './scripted-executor.js';
import { WorkerNode, type WorkerNodeOptions } from './worker-node.js';

/**
 * A cluster inside one test: any number of coordinators and workers over one SQLite store and one in-process queue, in virtual time.
 * Each node reaches the stores through links of its own, so that it can be cut off or die alone.
 */
export class NodeHarness {
  readonly clock: FakeClock;
  readonly ids: ClockIds;
  readonly tasks: SqlTaskRepo;
  readonly triggers: SqlTriggerRepo;
  readonly executions: SqlExecutionRepo;
  readonly audit: SqlAuditLog;
  readonly history: SqlHistoryRepo;
  readonly hooks: SqlHookRepo;
  readonly tokens: SqlTokenRepo;
  readonly lock: InProcessLock;
  readonly wakeup = new InProcessWakeup();
  readonly executor: ScriptedExecutor;
  broker: InProcessBroker;
  private readonly nodes: (CoordinatorNode | WorkerNode)[] = [];
  private lives = 1;

  private constructor(
    clock: FakeClock,
    private readonly store: SqliteStore,
    private readonly dataDir: string,
    private readonly storeLinks: Link[],
  ) {
    this.clock = clock;
    this.ids = new ClockIds(clock);
    this.tasks = new SqlTaskRepo(store.db);
    this.triggers = new SqlTriggerRepo(store.db);
    this.executions = new SqlExecutionRepo(store.db);
    this.audit = new SqlAuditLog(store.db);
    this.history = new SqlHistoryRepo(store.db);
    this.hooks = new SqlHookRepo(store.db);
    this.tokens = new SqlTokenRepo(store.db);
    this.lock = new InProcessLock(clock);
    this.executor = new ScriptedExecutor(clock);
    this.broker = new InProcessBroker(clock, 'life-1');
  }

  /** Time starts at `BASE`; nothing runs. */
  static async open(): Promise<NodeHarness> {
    const dataDir = await mkdtemp(join(tmpdir(), 'ax-nodes-'));
    const links: Link[] = [];
    const clock = new FakeClock(BASE, () => links.some(({ open }) => open > 0));
    const store = await openSqlite(dataDir, { clock, random: { next: () => 0.5 } });
    await store.db.knex.raw('PRAGMA synchronous = OFF'); // No test loses power.
    return new NodeHarness(clock, store, dataDir, links);
  }

  coordinator(name: string, options: Partial<CoordinatorOptions> = {}): CoordinatorNode {
    const node = new CoordinatorNode(this, name, options);
    this.storeLinks.push(node.store);
    this.nodes.push(node);
    return node;
  }

  worker(name: string, options: Partial<WorkerNodeOptions> = {}): WorkerNode {
    const executors = new Map([[this.executor.type, this.executor]]);
    const node = new WorkerNode(this, name, { executors, ...options });
    this.nodes.push(node);
    return node;
  }

  /** Stores tasks as they are. */
  async add(...tasks: Task[]): Promise<void> {
    for (const task of tasks) {
      const audit = { at: BASE, actor: 'test', action: 'task.create', subject: task.id, before: null };
      await this.tasks.insert(task, { ...audit, after: null });
    }
  }

  /** The queue goes on, empty and with another epoch. */
  loseQueue(): void {
    this.broker = new InProcessBroker(this.clock, `life-${(this.lives += 1)}`);
  }

  /** Rows of a query in the store. */
  async query<T>(sql: string): Promise<T[]> {
    return this.store.db.read((statements) => statements.rows<T>(sql));
  }

  /** All executions in order of their slots. */
  async all(taskId?: string): Promise<Execution[]> {
    const found: Execution[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = { size: 1000, cursor: cursor ?? null, offset: 0 };
      const { items, nextCursor } = await this.executions.list(taskId === undefined ? {} : { taskId }, page);
      found.push(...items);
      cursor = nextCursor;
    }
    return found.sort((a, b) => a.event.slot - b.event.slot);
  }

  /** The only execution (of the task), with its ledger. */
  async only(taskId?: string): Promise<{ execution: Execution; ledger: readonly LedgerEntry[] }> {
    const [first, ...others] = await this.all(taskId);
    expect(others).toEqual([]);
    const found = await this.executions.find(first?.event.id ?? '');
    if (found === null) throw new Error('there is no execution');
    return found;
  }

  /** Stops what runs, within a minute of virtual time, and asserts that nothing runs on. */
  async close(): Promise<void> {
    const stopped = Promise.all(this.nodes.map((node) => node.stop()));
    await this.clock.advance(60_000);
    await stopped;
    expect(this.clock.pendingTimers).toBe(0);
    await this.store.close({ clean: false });
    await rm(this.dataDir, { recursive: true });
  }
}

/** A task that is due every `everySec` from `BASE + everySec` on. */
export function every(everySec: number, overrides: Partial<Task> = {}): Task {
  return buildTask({
    schedule: { type: 'interval', everySec, anchorAt: BASE, startAt: null, endAt: null, jitterSec: 0 },
    nextTriggerTime: BASE + everySec * 1000,
    ...overrides,
  });
}
