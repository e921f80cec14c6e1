import {
  type Evidence,
  type Execution,
  type LedgerEntry,
  type LedgerKind,
  pendingExecution,
  type Status,
} from '../../domain/execution.js';
import { type Reason } from '../../domain/reason.js';
import { EVENT_COLUMNS, type EventRow, eventOf } from './event-row.js';
import { recordOf } from './stored-text.js';

const LOG_COLUMNS = [
  'status',
  'reason',
  'message',
  'worker',
  'generation',
  'attempt',
  'started_at',
  'finished_at',
  'evidence_json',
  'updated_at',
] as const;

/** Of `trigger_event e LEFT JOIN execution_log x`. */
export const EXECUTION_COLUMNS = [
  ...EVENT_COLUMNS.map((column) => `e.${column}`),
  ...LOG_COLUMNS.map((column) => `x.${column}`),
].join(', ');

/** The columns of the log are null for an event that nothing was reported of. */
export interface ExecutionRow extends EventRow {
  readonly status: Status | null;
  readonly reason: Reason | null;
  readonly message: string | null;
  readonly worker: string | null;
  readonly generation: number;
  readonly attempt: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly evidence_json: string | null;
  readonly updated_at: number;
}

export function executionOf(row: ExecutionRow): Execution {
  const event = eventOf(row);
  if (row.status === null) return pendingExecution(event);
  return {
    event,
    status: row.status,
    reason: row.reason,
    message: row.message,
    worker: row.worker,
    generation: row.generation,
    attempt: row.attempt,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    evidence: recordOf(row.evidence_json) as Evidence,
  };
}

export interface LedgerRow {
  readonly kind: LedgerKind;
  readonly at: number;
  readonly node: string;
  readonly detail_json: string;
}

/** `triggered` is the event itself; `published` is told by the claim that took the message; the rest was reported. */
export function ledgerOf({ event }: Execution, rows: readonly LedgerRow[]): LedgerEntry[] {
  const triggered: LedgerEntry = {
    kind: 'triggered',
    at: event.firedAt,
    node: event.node,
    detail: { slot: event.slot, is_misfire: event.isMisfire, traceparent: event.traceparent },
  };
  const reported = rows.map(({ kind, at, node, detail_json }) => ({
    kind,
    at,
    node,
    detail: recordOf(detail_json),
  }));
  const publishedAt = reported.find(({ kind }) => kind === 'claimed')?.detail['published_at'];
  const published: LedgerEntry[] =
    typeof publishedAt === 'number'
      ? [{ kind: 'published', at: publishedAt, node: event.node, detail: {} }]
      : [];
  return [triggered, ...[...published, ...reported].toSorted((a, b) => a.at - b.at)];
}
