import { ledgerOf } from '../../../src/adapters/sql/execution-row.js';
import { cursorOf, pageOf } from '../../../src/adapters/sql/keyset-page.js';
import { ADOPTED_PROGRESS } from '../../../src/adapters/sql/report-writes.js';
import {
  cutOrNull,
  detailText,
  evidenceText,
  LENGTHS,
  recordOf,
} from '../../../src/adapters/sql/stored-text.js';
import { idBound } from '../../../src/adapters/sql/time-ordered-id.js';
import {
  type Evidence,
  type Execution,
  type ExecutionReport,
  isTerminal,
  type LedgerEntry,
  pendingExecution,
  progressOf,
} from '../../../src/domain/execution.js';
import {
  type ExecutionFilter,
  type ExecutionRepo,
  type UnsettledExecution,
} from '../../../src/ports/execution-repo.js';
import { type Page, type PageRequest } from '../../../src/ports/task-repo.js';
import { type ExecutionState, type MemoryDb, type Transaction } from './memory-db.js';
import { recordOwed } from './memory-hook-repo.js';
import { shown } from './memory-task-repo.js';

/** ExecutionRepo.apply within a transaction. */
export function applyReports(tx: Transaction, db: MemoryDb, reports: readonly ExecutionReport[]): void {
  tx.statement('INSERT INTO execution_log');
  for (const report of reports) merge(tx, db, report);
  tx.statement('INSERT INTO execution_event');
  for (const report of reports) {
    const entries = db.ledger.get(report.executionId);
    if (entries === undefined) tx.set(db.ledger, report.executionId, [report]);
    else tx.append(entries, report);
  }
  recordOwed(tx, db, reports);
}

/** The state with the highest progress wins; the earliest start is kept of all. */
function merge(tx: Transaction, db: MemoryDb, report: ExecutionReport): void {
  const known = db.states.get(report.executionId);
  const progress = progressOf(report);
  const starts = [known?.startedAt ?? null, report.startedAt].filter((at) => at !== null);
  put(tx, db, report.executionId, {
    ...(known !== undefined && known.progress >= progress ? known : { report, progress }),
    startedAt: starts.length === 0 ? null : Math.min(...starts),
    updatedAt: db.clock.now(),
  });
}

function put(tx: Transaction, db: MemoryDb, id: string, state: ExecutionState): void {
  const before = db.states.get(id);
  if (before !== undefined) db.onChange(id, before, state);
  tx.set(db.states, id, state);
  tx.delete(db.unreported, id);
  if (isTerminal(state.report?.status ?? 'pending')) tx.delete(db.unsettled, id);
  else if (before === undefined) tx.set(db.unsettled, id, true);
}

export class MemoryExecutionRepo implements ExecutionRepo {
  constructor(private readonly db: MemoryDb) {}

  async apply(reports: readonly ExecutionReport[]): Promise<void> {
    if (reports.length > 0) this.db.transaction((tx) => applyReports(tx, this.db, reports));
  }

  async find(
    id: string,
  ): Promise<{ readonly execution: Execution; readonly ledger: readonly LedgerEntry[] } | null> {
    const execution = executionOf(this.db, id);
    return execution === null ? null : { execution, ledger: ledgerOf(execution, ledgerRows(this.db, id)) };
  }

  async list(filter: ExecutionFilter, page: PageRequest): Promise<Page<Execution>> {
    const { taskId, status } = filter;
    const cursor = cursorOf(page);
    const found: Execution[] = [];
    for (const [id, { event }] of this.db.events) {
      if ((taskId !== undefined && event.taskId !== taskId) || (cursor !== null && id >= cursor)) continue;
      const execution = executionOf(this.db, id);
      if (execution !== null && (status === undefined || execution.status === status)) found.push(execution);
    }
    found.sort((a, b) => (a.event.id > b.event.id ? -1 : 1));
    return pageOf(found.slice(page.offset), page, ({ event }) => event.id);
  }

  async adoptPending(recordedBefore: number): Promise<number> {
    if (this.db.unreported.size === 0) return 0;
    const bound = idBound(recordedBefore);
    const ids = [...this.db.unreported.keys()].filter((id) => id < bound);
    const adopted = { report: null, progress: ADOPTED_PROGRESS, startedAt: null };
    return this.db.transaction((tx) => {
      for (const id of ids) put(tx, this.db, id, { ...adopted, updatedAt: this.db.clock.now() });
      return ids.length;
    });
  }

  async unsettled(request: {
    readonly updatedBefore: number;
    readonly afterId: string | null;
    readonly limit: number;
  }): Promise<UnsettledExecution[]> {
    const { updatedBefore, afterId, limit } = request;
    const found: UnsettledExecution[] = [];
    for (const id of [...this.db.unsettled.keys()].sort()) {
      if (found.length >= limit) break;
      const { updatedAt = Infinity } = this.db.states.get(id) ?? {};
      if (updatedAt >= updatedBefore || (afterId !== null && id <= afterId)) continue;
      const execution = executionOf(this.db, id);
      if (execution === null) continue;
      const task = this.db.tasks.get(execution.event.taskId);
      found.push({ execution, task: task === undefined ? null : shown(task), updatedAt });
    }
    return found;
  }
}

export function executionOf(db: MemoryDb, id: string): Execution | null {
  const event = db.events.get(id)?.event;
  if (event === undefined) return null;
  const { report = null, startedAt = null } = db.states.get(id) ?? {};
  if (report === null) return pendingExecution(event);
  const { status, reason, message, worker, generation, attempt, finishedAt, evidence } = report;
  return {
    event,
    status,
    reason,
    message: cutOrNull(message, LENGTHS.message),
    worker: cutOrNull(worker, LENGTHS.node),
    generation,
    attempt,
    startedAt,
    finishedAt,
    evidence: recordOf(evidenceText(evidence)) as Evidence,
  };
}

/** In order of time, each once. */
export function ledgerRows(db: MemoryDb, id: string) {
  const reports = new Map<string, ExecutionReport>();
  for (const report of db.ledger.get(id) ?? []) {
    const { generation, seq, entry } = report;
    const key = [entry.at, generation, seq, entry.kind].join(' ');
    if (!reports.has(key)) reports.set(key, report);
  }
  return [...reports.values()]
    .sort((a, b) => a.entry.at - b.entry.at || a.generation - b.generation || a.seq - b.seq)
    .map(({ generation, entry: { kind, at, node, detail } }) => {
      return {
        kind,
        at,
        node: cutOrNull(node, LENGTHS.node) ?? '',
        generation,
        detail_json: detailText(detail),
      };
    });
}
