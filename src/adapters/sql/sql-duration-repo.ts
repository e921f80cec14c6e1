import { type Status, STATUSES } from '../../domain/execution.js';
import { type Reason } from '../../domain/reason.js';
import { type RunTiming } from '../../domain/run-stats.js';
import { type DurationRepo } from '../../ports/duration-repo.js';
import { type EventRow as StoredEvent } from './event-row.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { idBound } from './time-ordered-id.js';

/** What an execution that ran ends with. */
const RAN = ['success', 'fail', 'timeout'] as const;
/** Tasks of one statement: a union of at most three parts each, of which SQLite takes 500. */
const TASKS_PER_READ = 150;
/** Statements at a time; the tick needs connections, too. */
const LANES = 3;
/** An event's id is made this long before or after its `fired_at` at most. */
const ID_SKEW_MS = 60_000;

interface Sample {
  /** No older id counts. */
  readonly after: string;
  readonly size: number;
}

/** Reads by the index on task, status and id: first which of them there are, then the latest of each. */
export class SqlDurationRepo implements DurationRepo {
  constructor(private readonly db: SqlDb) {}

  async p95(
    taskIds: readonly string[],
    request: { readonly since: number; readonly sample: number },
  ): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    const sample = { after: idBound(request.since), size: request.sample };
    let next = 0;
    const lane = async () => {
      while (next < taskIds.length) {
        const ids = taskIds.slice(next, (next += TASKS_PER_READ));
        const rows = await this.db.read(async (sql) =>
          readP95(sql, await readPairs(sql, ids, sample), sample),
        );
        for (const { task_id, duration } of rows) found.set(task_id, Number(duration));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return found;
  }

  async timings(request: Parameters<DurationRepo['timings']>[0]): Promise<RunTiming[]> {
    return this.db.read(async (sql) => {
      const events = await readEvents(sql, request);
      const [first, last] = [events[0], events.at(-1)];
      if (first === undefined || last === undefined) return [];
      const ends = new Map<string, EndRow>();
      for (const row of await readEnds(sql, request.taskId, first.id, last.id)) ends.set(row.id, row);
      return events.map(({ id, kind, window_start, fired_at }) => {
        const {
          status = 'pending',
          reason = null,
          started_at = null,
          finished_at = null,
        } = ends.get(id) ?? {};
        return {
          ...{ id, kind, windowStart: window_start, firedAt: fired_at },
          ...{ status, reason, startedAt: started_at, finishedAt: finished_at },
        };
      });
    });
  }
}

type EventRow = Pick<StoredEvent, 'id' | 'kind' | 'window_start' | 'fired_at'>;

interface EndRow {
  readonly id: string;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
}

async function readEvents(
  sql: Statements,
  { taskId, from, to, afterId, limit }: Parameters<DurationRepo['timings']>[0],
): Promise<EventRow[]> {
  const { dialect } = sql;
  const at = (instant: number) => dialect.instant(instant) as string | number;
  return sql.rows(
    `SELECT e.id, e.kind, e.window_start, e.fired_at FROM trigger_event e ${dialect.useIndex('trigger_event_task')}
     WHERE e.task_id = ? AND e.id > ? AND e.id < ? AND e.fired_at >= ? AND e.fired_at < ? ORDER BY e.id LIMIT ?`,
    [taskId, afterId ?? idBound(from - ID_SKEW_MS), idBound(to + ID_SKEW_MS), at(from), at(to), limit],
  );
}

/** Of the executions with ids in a range, those that anything was reported of. */
async function readEnds(sql: Statements, taskId: string, first: string, last: string): Promise<EndRow[]> {
  return sql.rows(
    `SELECT x.id, x.status, x.reason, x.started_at, x.finished_at FROM execution_log x ${sql.dialect.useIndex('execution_log_task')}
     WHERE x.task_id = ? AND x.status IN (${STATUSES.map((status) => `'${status}'`).join(', ')}) AND x.id >= ? AND x.id <= ?`,
    [taskId, first, last],
  );
}

type Pair = readonly [taskId: string, status: string];

/** Tasks and statuses of which there is a run; most of the others are not worth a part of the union. */
async function readPairs(sql: Statements, ids: readonly string[], { after }: Sample): Promise<Pair[]> {
  const index = sql.dialect.useIndex('execution_log_task');
  const exists = RAN.map(
    (status) => `EXISTS (SELECT 1 FROM execution_log x ${index}
      WHERE x.task_id = t.id AND x.status = '${status}' AND x.id >= ?) AS ${status}`,
  );
  const rows = await sql.rows<{ id: string } & Record<(typeof RAN)[number], number>>(
    `SELECT t.id, ${exists.join(', ')} FROM task_meta t WHERE t.id IN (${ids.map(() => '?').join(', ')})`,
    [...RAN.map(() => after), ...ids],
  );
  return rows.flatMap((row) =>
    RAN.filter((status) => row[status] === 1).map((status) => [row.id, status] as const),
  );
}

async function readP95(sql: Statements, pairs: readonly Pair[], { after, size }: Sample) {
  if (pairs.length === 0) return [];
  const { dialect } = sql;
  const part = dialect.part(
    `SELECT x.task_id, ${dialect.msBetween('x.started_at', 'x.finished_at')} AS duration
     FROM execution_log x ${dialect.useIndex('execution_log_task')}
     WHERE x.task_id = ? AND x.status = ? AND x.id >= ? ORDER BY x.id DESC LIMIT ?`,
  );
  return sql.rows<{ task_id: string; duration: number | string }>(
    `SELECT task_id, duration FROM (
       SELECT task_id, duration, ROW_NUMBER() OVER (PARTITION BY task_id ORDER BY duration) AS place,
         COUNT(*) OVER (PARTITION BY task_id) AS runs
       FROM (${pairs.map(() => part).join(' UNION ALL ')}) AS run WHERE duration IS NOT NULL
     ) AS ranked WHERE place * 100 >= runs * 95 AND (place - 1) * 100 < runs * 95`,
    pairs.flatMap((pair) => [...pair, after, size]),
  );
}
