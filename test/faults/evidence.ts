import { type Lane } from './lane.js';
import { type Finding, type RecordedEvent } from './rule.js';

const epochMs = (column: string) => `CAST(ROUND(UNIX_TIMESTAMP(${column}) * 1000) AS SIGNED)`;

interface LedgerRow {
  readonly execution_id: string;
  readonly at: number;
  readonly kind: string;
  readonly generation: number;
  readonly node: string;
  readonly detail_json: string;
}

/** Events of the tasks whose ids begin with `prefix`, as the database has them. */
export async function recordedEvents(lane: Lane, prefix: string): Promise<RecordedEvent[]> {
  const [events, ledger] = await Promise.all([
    lane.query(
      `SELECT e.id, e.task_id, ${epochMs('e.slot')} AS slot, ${epochMs('e.range_end')} AS range_end,
              ${epochMs('e.fired_at')} AS fired_at, e.is_misfire, l.status, l.reason
       FROM trigger_event e LEFT JOIN execution_log l ON l.id = e.id WHERE e.task_id LIKE ?`,
      [`${prefix}-%`],
    ),
    ledgerOf(lane, 'e.task_id LIKE ?', [`${prefix}-%`]),
  ]);
  const tries = new Map<string, Set<string>>();
  const published = new Set(
    ledger.filter(({ kind }) => kind === 'republished').map((row) => row.execution_id),
  );
  for (const row of ledger) {
    if (row.kind === 'reclaimed' && published.has(row.execution_id)) continue;
    const known = tries.get(row.execution_id) ?? new Set();
    tries.set(row.execution_id, known);
    const name = tryOf(row);
    if (name !== null) known.add(name);
  }
  return events.map((row) => ({
    id: String(row['id']),
    taskId: String(row['task_id']),
    slot: Number(row['slot']),
    rangeEnd: row['range_end'] === null ? null : Number(row['range_end']),
    firedAt: Number(row['fired_at']),
    isMisfire: Number(row['is_misfire']) === 1,
    status: row['status'] as string | null,
    reason: row['reason'] as string | null,
    recordedTries: tries.get(String(row['id']))?.size ?? 0,
  }));
}

const ledgerOf = async (lane: Lane, where: string, values: unknown[]): Promise<LedgerRow[]> =>
  (await lane.query(
    `SELECT x.execution_id, ${epochMs('x.at')} AS at, x.kind, x.generation, x.node, x.detail_json
     FROM execution_event x JOIN trigger_event e ON e.id = x.execution_id WHERE ${where} ORDER BY x.at, x.seq`,
    values,
  )) as unknown as LedgerRow[];

/**
 * The try that a ledger line is about: an attempt of one claim (the first one starts with the first claim), or one that was lost with the
 * queue's data and is on record as such, by the line that publishes the run again, or by a claim after nobody known.
 */
function tryOf({ kind, at, generation, node, detail_json }: LedgerRow): string | null {
  const detail = JSON.parse(detail_json) as { attempt?: number; previous_worker?: string | null };
  const attempt = detail.attempt ?? 0;
  switch (kind) {
    case 'claimed':
      return generation === 1 ? `${generation} 1 ${node}` : null;
    case 'attempt_started':
    case 'attempt_failed':
    case 'finished':
      return attempt > 0 ? `${generation} ${attempt} ${node}` : null;
    case 'republished':
      return `lost before ${at}`;
    case 'reclaimed':
      return detail.previous_worker === null ? `forgotten before ${at}` : null;
    default:
      return null;
  }
}

/** All that is known of what a finding is about, for people. */
export async function explain(lane: Lane, finding: Finding): Promise<string> {
  const { breach, taskId, slot, executionId, what } = finding;
  const calls = lane.callee.calls.filter((call) => call.taskId === taskId && call.slot === slot);
  const ledger = executionId === null ? [] : await ledgerOf(lane, 'e.id = ?', [executionId]);
  const lines = [
    ...ledger.map(
      ({ at, kind, generation, node, detail_json }) =>
        `${at - slot} ms ${kind} g${generation} ${node} ${detail_json}`,
    ),
    ...calls.map(
      ({ at, attempt, executionId: id, isAnswered }) =>
        `${at - slot} ms called, attempt ${attempt} of ${id}, answered: ${isAnswered}`,
    ),
    ...(executionId === null ? [] : lane.nodes.flatMap((node) => node.linesAbout(executionId))),
  ];
  return [
    `${breach.toUpperCase()} ${taskId} ${new Date(slot).toISOString()} ${executionId ?? ''}: ${what}`,
    ...lines,
  ].join('\n    ');
}
