import { type LoadRepo, type TaskStanding } from '../../ports/load-repo.js';
import { type SqlDb } from './sql-db.js';

interface StandingRow {
  readonly id: string;
  readonly group_name: string;
  readonly updated_at: number;
  readonly next_trigger_time: number | null;
  readonly succeeded: number | null;
  readonly failed: number | null;
  readonly timed_out: number | null;
}

/** Reads indexes: that of due tasks whole; that of demand, which ends with the ids, as far as asked; and of each task the last entry of three statuses. */
export class SqlLoadRepo implements LoadRepo {
  constructor(private readonly db: SqlDb) {}

  async load(): ReturnType<LoadRepo['load']> {
    const rows = await this.db.read((sql) =>
      sql.rows<{ enabled: number; tasks: number; oldest: number | null }>(
        `SELECT enabled, COUNT(*) AS tasks, MIN(next_trigger_time) AS oldest
         FROM task_meta ${sql.dialect.useIndex('task_meta_due')} GROUP BY enabled`,
      ),
    );
    const of = (enabled: number) => rows.find((row) => row.enabled === enabled);
    return {
      enabled: of(1)?.tasks ?? 0,
      disabled: of(0)?.tasks ?? 0,
      oldestSlot: of(1)?.oldest ?? null,
    };
  }

  async standings(limit: number): Promise<TaskStanding[]> {
    const rows = await this.db.read((sql) => {
      const last = (status: string) =>
        `(SELECT x.finished_at FROM execution_log x ${sql.dialect.useIndex('execution_log_task')}
          WHERE x.task_id = t.id AND x.status = '${status}' ORDER BY x.id DESC LIMIT 1)`;
      return sql.rows<StandingRow>(
        `SELECT t.id, t.group_name, t.updated_at, t.next_trigger_time, ${last('success')} AS succeeded,
           ${last('fail')} AS failed, ${last('timeout')} AS timed_out
         FROM task_meta t ${sql.dialect.useIndex('task_meta_demand')}
         WHERE t.enabled = 1 ORDER BY t.pool, t.executor_type, t.id LIMIT ?`,
        [limit],
      );
    });
    return rows.map((row) => ({
      id: row.id,
      group: row.group_name,
      updatedAt: row.updated_at,
      nextTriggerTime: row.next_trigger_time,
      lastSuccessAt: row.succeeded,
      lastFailureAt: latest(row.failed, row.timed_out),
    }));
  }
}

const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);
