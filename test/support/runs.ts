import { type ExecutionReport } from '../../src/domain/execution.js';
import { type TriggerEvent } from '../../src/domain/trigger.js';
import { buildReport, buildTask } from './builders.js';
import { auditOf, type Store } from './store.js';

/** Records events as a tick would, through a task that is there only for that. */
export async function recordEvents(
  store: Pick<Store, 'tasks' | 'triggers'>,
  events: readonly TriggerEvent[],
): Promise<void> {
  const task = buildTask({ nextTriggerTime: 1000 });
  await store.tasks.insert(task, auditOf(task.id));
  await store.triggers.decideDue({ now: 1000, limit: 1, mayCommit: () => true }, () => ({
    fired: events.map((event) => ({ event, task })),
    skipped: [],
    advances: [],
    errors: [],
  }));
  await store.tasks.delete(task.id, null, () => auditOf(task.id));
}

/** The reports of a run that failed once, was retried and succeeded, in order. */
export function runOf(event: TriggerEvent): ExecutionReport[] {
  const at = event.firedAt + 5;
  let seq = 0;
  const report = (
    overrides: Partial<ExecutionReport>,
    kind: ExecutionReport['entry']['kind'],
    after: number,
  ) =>
    buildReport({
      executionId: event.id,
      taskId: event.taskId,
      seq: seq++,
      startedAt: at,
      ...overrides,
      entry: {
        kind,
        at: at + after,
        node: 'worker-1',
        detail: kind === 'claimed' ? { published_at: event.firedAt + 3, worker: 'worker-1' } : { after },
      },
    });
  return [
    report({}, 'claimed', 0),
    report({ status: 'retrying', reason: 'http_status', message: '503' }, 'attempt_failed', 101),
    report({ status: 'retrying' }, 'retry_planned', 101),
    report({ attempt: 2 }, 'attempt_started', 1102),
    report(
      {
        attempt: 2,
        status: 'success',
        finishedAt: at + 1999,
        evidence: { http_status: 200, ok: true, output_tail: 'done' },
      },
      'finished',
      1999,
    ),
  ];
}

/** A UUID of version 7 made at `epochMs`; `n` tells those of one millisecond apart. */
export function uuidAt(epochMs: number, n = 0): string {
  const hex = epochMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}
