import { isTerminal } from '../../src/domain/execution.js';
import { type AuditEntry, type AuditLog } from '../../src/ports/audit.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { type ExecutionState, MemoryDb } from '../support/memory-store/memory-db.js';
import { type VirtualTime } from './virtual-time.js';

/** An event as it is stored, and what became of it. Instants are epoch ms. */
export interface StoredEvent extends Pick<
  TriggerEvent,
  | 'id'
  | 'taskId'
  | 'kind'
  | 'slot'
  | 'rangeEnd'
  | 'windowStart'
  | 'windowEnd'
  | 'firedAt'
  | 'isMisfire'
  | 'node'
> {
  /** True time of the transaction. */
  readonly recordedAt: number;
  readonly status: string;
  readonly reason: string | null;
}

/** The store of one simulated cluster, and what only the checker reads of it. */
export class WatchedStore {
  readonly db: MemoryDb;
  /** Terminal states that changed. */
  readonly revived: { readonly id: string; readonly text: string }[] = [];

  constructor(time: VirtualTime, { hasUniqueSlots }: { readonly hasUniqueSlots: boolean }) {
    this.db = new MemoryDb(time, hasUniqueSlots);
    this.db.onChange = (id, before, after) => {
      const [was, is] = [statusOf(before), statusOf(after)];
      if (was !== is && isTerminal(was)) this.revived.push({ id, text: `${was} became ${is}` });
    };
  }

  /** In the order in which they were recorded. */
  events(): StoredEvent[] {
    const events = [...this.db.events.values()].map(({ event, recordedAt }) => {
      const { id, taskId, kind, slot, rangeEnd, windowStart, windowEnd, firedAt, isMisfire, node } = event;
      const state = this.db.states.get(id);
      return {
        ...{ id, taskId, kind, slot, rangeEnd, windowStart, windowEnd, firedAt, isMisfire, node, recordedAt },
        status: statusOf(state),
        reason: state?.report?.reason ?? null,
      };
    });
    return events.sort((a, b) => a.recordedAt - b.recordedAt || (a.id < b.id ? -1 : 1));
  }

  /** Whether every event has ended. */
  get isQuiet(): boolean {
    return this.db.unreported.size === 0 && this.db.unsettled.size === 0;
  }

  /** Of all executions that have not ended. */
  get unended(): string[] {
    return [...this.db.unreported.keys(), ...this.db.unsettled.keys()].sort();
  }

  readonly auditLog: AuditLog = {
    append: async (entry) => this.db.transaction((tx) => tx.audit(entry)),
    list: async () => [],
  };

  get audit(): readonly AuditEntry[] {
    return this.db.audit;
  }
}

const statusOf = (state: ExecutionState | undefined) => state?.report?.status ?? 'pending';
