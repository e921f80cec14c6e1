import { type ExecutionReport, progressOf } from '../../domain/execution.js';
import { type Dialect, type SqlValue } from './dialect.js';
import { recordOwed } from './owed-summaries.js';
import { type Statements } from './sql-db.js';
import { cut, cutOrNull, detailText, evidenceText, LENGTHS } from './stored-text.js';

/** Progress of an adopted event: below every report. */
export const ADOPTED_PROGRESS = -1;

/** Taken together from the report with the highest progress. */
const WINNER_COLUMNS = [
  'status',
  'reason',
  'message',
  'worker',
  'generation',
  'attempt',
  'finished_at',
  'evidence_json',
] as const;
const LOG_COLUMNS = ['id', 'task_id', ...WINNER_COLUMNS, 'started_at', 'updated_at', 'progress'] as const;
const LEDGER_COLUMNS = ['execution_id', 'at', 'generation', 'seq', 'kind', 'node', 'detail_json'] as const;

/** What a batch says of one execution: its most advanced report, and the earliest start that any of them knows. */
interface Folded {
  readonly winner: ExecutionReport;
  readonly startedAt: number | null;
}

/**
 * Applies reports in two statements: states, then ledger. Of two reports the one with the higher progress wins, whether they meet
 * in this batch or in the table; the earliest start is kept of all. Rows go in order of id, so that two callers seldom deadlock.
 * Summaries that are owed cost two more.
 */
export async function writeReports(
  sql: Statements,
  reports: readonly ExecutionReport[],
  now: number,
): Promise<void> {
  const { dialect } = sql;
  const ordered = reports.toSorted((a, b) => compare(a.executionId, b.executionId));
  const folded = [...fold(ordered).values()];
  const states = folded.map((state) => logRow(state, now, dialect));
  await sql.insert('execution_log', LOG_COLUMNS, states, onKnownExecution(dialect));
  await writeLedger(sql, ordered);
  await recordOwed(
    sql,
    folded.map(({ winner }) => winner),
    now,
  );
}

type LedgerLine = Pick<ExecutionReport, 'executionId' | 'generation' | 'seq' | 'entry'>;

/** Adds to the ledger; a line that is there already stays. */
export async function writeLedger(sql: Statements, lines: readonly LedgerLine[]): Promise<void> {
  const { dialect } = sql;
  const rows = lines.map((line) => ledgerRow(line, dialect));
  const keep = dialect.keepExisting('execution_event', 'execution_id');
  await sql.insert('execution_event', LEDGER_COLUMNS, rows, keep);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function fold(reports: readonly ExecutionReport[]): Map<string, Folded> {
  const folded = new Map<string, Folded>();
  for (const report of reports) {
    const known = folded.get(report.executionId);
    folded.set(report.executionId, {
      winner: known && progressOf(known.winner) >= progressOf(report) ? known.winner : report,
      startedAt: earliest(known?.startedAt ?? null, report.startedAt),
    });
  }
  return folded;
}

const earliest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** `progress` guards the others and so comes last: MySQL assigns from left to right. */
function onKnownExecution(dialect: Dialect): string {
  const is = (column: string) => `execution_log.${column}`;
  const winner = (column: string) =>
    `${column} = CASE WHEN ${dialect.incoming('progress')} > ${is('progress')} ` +
    `THEN ${dialect.incoming(column)} ELSE ${is(column)} END`;
  const start = dialect.incoming('started_at');
  return `${dialect.orUpdate('id')} ${[
    ...WINNER_COLUMNS.map(winner),
    `started_at = CASE WHEN ${is('started_at')} IS NULL OR ${start} < ${is('started_at')} ` +
      `THEN ${start} ELSE ${is('started_at')} END`,
    `updated_at = ${dialect.incoming('updated_at')}`,
    winner('progress'),
  ].join(', ')}`;
}

const logRow = ({ winner, startedAt }: Folded, now: number, dialect: Dialect): SqlValue[] => [
  winner.executionId,
  winner.taskId,
  winner.status,
  cutOrNull(winner.reason, LENGTHS.reason),
  cutOrNull(winner.message, LENGTHS.message),
  cutOrNull(winner.worker, LENGTHS.node),
  winner.generation,
  winner.attempt,
  dialect.instant(winner.finishedAt),
  evidenceText(winner.evidence),
  dialect.instant(startedAt),
  dialect.instant(now),
  progressOf(winner),
];

const ledgerRow = ({ executionId, generation, seq, entry }: LedgerLine, dialect: Dialect): SqlValue[] => [
  executionId,
  dialect.instant(entry.at),
  generation,
  seq,
  cut(entry.kind, LENGTHS.ledgerKind),
  cut(entry.node, LENGTHS.node),
  detailText(entry.detail),
];
