import { checked } from '../adapters/http/field-problems.js';
import { WHY_QUERY, whyJson } from '../adapters/http/why-routes.js';
import { RedisConnection } from '../adapters/redis/redis-connection.js';
import { RedisQueue } from '../adapters/redis/redis-queue.js';
import { RedisWorkerRegistry } from '../adapters/redis/redis-worker-registry.js';
import { SqlExecutionRepo } from '../adapters/sql/sql-execution-repo.js';
import { SqlHistoryRepo } from '../adapters/sql/sql-history-repo.js';
import { SqlTaskRepo } from '../adapters/sql/sql-task-repo.js';
import { SystemClock } from '../adapters/system/system-clock.js';
import { type Explanation, ExplainSlot, type LiveSources } from '../application/history/explain-slot.js';
import { AxError } from '../domain/errors.js';
import { localTime } from '../domain/local-time.js';
import { isTaskId } from '../domain/task.js';
import { type parseExplanation } from './config.js';
import { openHistory } from './open-history.js';
import { SILENT } from './silent-logger.js';

/**
 * Prints what became of the run of a task at an instant, as lines or as the JSON of the API.
 * @throws InvalidInput on `at`; AxError `not_found`, `refused_start`, `unavailable`.
 */
export async function why(
  { store, redis, queueLimit }: ReturnType<typeof parseExplanation>,
  taskId: string,
  options: { readonly at?: string; readonly json?: boolean },
): Promise<void> {
  const { at } = checked(WHY_QUERY, { at: options.at });
  if (!isTaskId(taskId)) throw new AxError('not_found', `there is no task ${JSON.stringify(taskId)}`);
  const clock = new SystemClock();
  const { db, close } = await openHistory(store, clock, `GET /api/tasks/${taskId}/why?at=`);
  const connection = redis === null ? null : new RedisConnection({ ...redis, logger: SILENT });
  const live: LiveSources | null =
    connection === null
      ? null
      : { queue: new RedisQueue(connection), registry: new RedisWorkerRegistry(connection), queueLimit };
  try {
    const explainSlot = new ExplainSlot({
      history: new SqlHistoryRepo(db),
      tasks: new SqlTaskRepo(db),
      executions: new SqlExecutionRepo(db),
      clock,
      live,
    });
    const explanation = await explainSlot.explain(taskId, at ?? null);
    const json = whyJson(explanation);
    process.stdout.write(options.json === true ? `${JSON.stringify(json)}\n` : lines(explanation, json));
  } finally {
    await connection?.close();
    await close();
  }
}

function lines(explanation: Explanation, json: ReturnType<typeof whyJson>): string {
  const { code, summary, recorded, next, timezone, evidence, notTold } = explanation;
  const say = (instant: number) => localTime(instant, timezone);
  const { attempts = [] } = json['evidence'] as { attempts?: readonly object[] };
  return [
    summary,
    `code: ${code}`,
    ...(recorded === null ? [] : [`execution: ${recorded.execution.event.id}`]),
    ...Object.entries(evidence).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ...attempts.map((attempt) => `attempt: ${JSON.stringify(attempt)}`),
    ...(recorded?.ledger ?? []).map(({ kind, at, node }) => `  ${say(at)}  ${kind}  ${node}`),
    ...notTold.map((missing) => `not told: ${missing}`),
    `next slot: ${next === null ? 'none is known' : say(next)}`,
    '',
  ].join('\n');
}
