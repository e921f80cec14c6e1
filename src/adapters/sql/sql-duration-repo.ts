import { type DurationRepo } from '../../ports/duration-repo.js';
import { type SqlDb, type Statements } from './sql-db.js';
import { idBound } from './time-ordered-id.js';

/** What an execution that ran ends with. */
const RAN = ['success', 'fail', 'timeout'] as const;
/** Tasks of one statement: a union of at most three parts each, of which SQLite takes 500. */
const TASKS_PER_READ = 150;
/** Statements at a time; the tick needs connections, too. */
const LANES = 3;

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
