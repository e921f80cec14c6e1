import { type ExecutionReport, isTerminal, type OwedSummary } from '../../../src/domain/execution.js';
import { type HookDelivery, type HookRepo, type HookTry } from '../../../src/ports/hook-repo.js';
import { type LastOutcome } from '../../../src/ports/last-outcomes.js';
import { type MemoryDb, type Transaction } from './memory-db.js';
import { executionOf } from './memory-execution-repo.js';

export interface StoredDelivery extends OwedSummary {
  readonly executionId: string;
  readonly taskId: string;
  readonly failures: number;
  readonly dueAt: number;
}

/** Notes what applied reports owe, once. */
export function recordOwed(tx: Transaction, db: MemoryDb, reports: readonly ExecutionReport[]): void {
  for (const { executionId, taskId, status, owed } of reports) {
    const state = db.states.get(executionId)?.report;
    if (owed === undefined || !isTerminal(status) || state?.status !== status) continue;
    const isTold = db.ledger.get(executionId)?.some(({ entry }) => entry.kind.startsWith('post_hook'));
    if (isTold === true || db.deliveries.has(executionId)) continue;
    tx.statement('INSERT INTO hook_delivery');
    tx.set(db.deliveries, executionId, { ...owed, executionId, taskId, failures: 0, dueAt: db.clock.now() });
  }
}

export class MemoryHookRepo implements HookRepo {
  constructor(private readonly db: MemoryDb) {}

  async lease({ now, leaseMs, limit }: Parameters<HookRepo['lease']>[0]): Promise<HookDelivery[]> {
    const due = [...this.db.deliveries.values()]
      .filter(({ dueAt }) => dueAt <= now)
      .sort((a, b) => a.dueAt - b.dueAt)
      .slice(0, limit);
    if (due.length === 0) return [];
    return this.db.transaction((tx) => {
      tx.statement('UPDATE hook_delivery');
      return due.map((delivery) => {
        const { executionId, taskId, taskName, group, hook, failures } = delivery;
        tx.set(this.db.deliveries, executionId, { ...delivery, dueAt: now + leaseMs });
        const execution = executionOf(this.db, executionId);
        return { executionId, taskId, taskName, group, hook, failures, execution };
      });
    });
  }

  async settle({ executionId, entry, failures, retryAt }: HookTry): Promise<void> {
    this.db.transaction((tx) => {
      tx.statement('INSERT INTO execution_event');
      const { deliveries, ledger, states } = this.db;
      const lines = ledger.get(executionId) ?? [];
      const report = states.get(executionId)?.report ?? lines[0];
      if (report !== undefined && report !== null)
        tx.set(ledger, executionId, [...lines, { ...report, generation: 0, seq: failures, entry }]);
      const delivery = deliveries.get(executionId);
      if (delivery === undefined) return;
      if (retryAt === null) tx.delete(deliveries, executionId);
      else tx.set(deliveries, executionId, { ...delivery, failures, dueAt: retryAt });
    });
  }

  async watchedOutcomes(): Promise<{ readonly taskId: string; readonly outcome: LastOutcome }[]> {
    const named = new Set<string>();
    for (const { task } of this.db.tasks.values()) {
      const check = task.isEnabled ? task.hooks.pre?.check : undefined;
      if (check?.type === 'task_succeeded' && this.db.tasks.has(check.taskId)) named.add(check.taskId);
    }
    const newest = new Map<string, { readonly id: string; readonly outcome: LastOutcome }>();
    for (const [id, { report }] of this.db.states) {
      const slot = this.db.events.get(id)?.event.slot;
      if (report === null || slot === undefined || !named.has(report.taskId)) continue;
      const { taskId, status, finishedAt } = report;
      if (status !== 'success' && status !== 'fail' && status !== 'timeout') continue;
      if (id > (newest.get(taskId)?.id ?? ''))
        newest.set(taskId, { id, outcome: { status, slot, finishedAt: finishedAt ?? 0 } });
    }
    return [...newest].map(([taskId, { outcome }]) => ({ taskId, outcome }));
  }
}
