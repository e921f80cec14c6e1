import { auditedState, stateOf } from '../../../src/adapters/sql/audited-state.js';
import { recordOf } from '../../../src/adapters/sql/stored-text.js';
import { type LedgerKind } from '../../../src/domain/execution.js';
import { type RecordedEvent } from '../../../src/domain/recorded-run.js';
import { isTaskId, type Task } from '../../../src/domain/task.js';
import { type TaskChange } from '../../../src/domain/task-history.js';
import { type TriggerEvent } from '../../../src/domain/trigger.js';
import { type AuditEntry } from '../../../src/ports/audit.js';
import { type HistoryRepo } from '../../../src/ports/history-repo.js';
import { type MemoryDb } from './memory-db.js';
import { ledgerRows } from './memory-execution-repo.js';
import { calendarsOf, shown } from './memory-task-repo.js';

const CHANGES = ['task.create', 'task.update', 'task.toggle', 'task.delete'];
const STEPS: readonly LedgerKind[] = [
  'claimed',
  'reclaimed',
  'attempt_started',
  'attempt_failed',
  'waiting',
  'handed_back',
  'republished',
  'finished',
];

export class MemoryHistoryRepo implements HistoryRepo {
  constructor(private readonly db: MemoryDb) {}

  async nextTaskId(after: string): Promise<string | null> {
    const changed = this.db.audit.filter(isChange).map(({ subject }) => subject);
    const fired = [...this.db.events.values()].map(({ event }) => event.taskId);
    const ids = [...this.db.tasks.keys(), ...changed.filter(isTaskId), ...fired].filter((id) => id > after);
    return ids.sort()[0] ?? null;
  }

  async taskHistory(taskId: string, from: number, limit: number) {
    const stored = this.db.tasks.get(taskId);
    const entries = this.db.audit.filter((entry) => isChange(entry) && entry.subject === taskId);
    const lastBefore = entries.findLastIndex(({ at }) => at < from);
    const changes = entries.slice(Math.max(0, lastBefore, entries.length - limit)).map(changeOf);
    return { current: stateOf(stored === undefined ? null : shown(stored)), changes };
  }

  async eventBefore(taskId: string, slot: number): Promise<RecordedEvent | null> {
    const earlier = this.eventsOf(
      (event) => event.taskId === taskId && event.kind === 'schedule' && event.slot < slot,
    );
    return earlier.at(-1) ?? null;
  }

  async events(request: Parameters<HistoryRepo['events']>[0]): Promise<RecordedEvent[]> {
    const { taskId, kind, from, to, after, limit } = request;
    const isLater = ({ slot, id }: TriggerEvent) =>
      after === null || slot > after.slot || (slot === after.slot && id > after.id);
    return this.eventsOf(
      (event) =>
        event.taskId === taskId &&
        event.kind === kind &&
        event.slot >= from &&
        event.slot <= to &&
        isLater(event),
    ).slice(0, limit);
  }

  private eventsOf(isWanted: (event: TriggerEvent) => boolean): RecordedEvent[] {
    const events = [...this.db.events.values()].map(({ event }) => event).filter(isWanted);
    return events
      .sort((a, b) => a.slot - b.slot || (a.id < b.id ? -1 : 1))
      .map((event) => this.recorded(event));
  }

  private recorded({
    id,
    taskId,
    kind,
    slot,
    windowStart,
    windowEnd,
    firedAt,
    isMisfire,
    rangeEnd,
  }: TriggerEvent): RecordedEvent {
    const { report = null, startedAt = null } = this.db.states.get(id) ?? {};
    const steps = ledgerRows(this.db, id)
      .filter((row) => STEPS.includes(row.kind))
      .map(({ detail_json, ...step }) => {
        const { attempt } = recordOf(detail_json);
        return { ...step, attempt: typeof attempt === 'number' ? attempt : null };
      });
    const { status = 'pending', reason = null, attempt = 0 } = report ?? {};
    return {
      ...{ id, taskId, kind, slot, windowStart, windowEnd, firedAt, isMisfire, rangeEnd },
      ...{ status, reason, attempt, startedAt, steps },
    };
  }
}

const isChange = ({ action }: AuditEntry): boolean => CHANGES.includes(action);

function changeOf({ at, action, before, after }: AuditEntry): TaskChange {
  const stateIn = (value: unknown) =>
    auditedState(JSON.stringify(value ?? null), calendarsOf(value as Partial<Task> | null));
  const then = stateIn(after);
  return {
    at,
    before: stateIn(before),
    after: then === 'absent' && action !== 'task.delete' ? 'unreadable' : then,
  };
}
