import { type Diagnosis, named, ok, problem } from '../../domain/diagnosis.js';
import { type Examination } from '../../ports/examination.js';
import { pendingMigrations } from './migrate.js';
import { type SqlDb } from './sql-db.js';

/** Keys without which a second event, a second run request or a lost line would go unnoticed. */
const UNIQUE_KEYS = [
  ['trigger_event', 'task_id, kind, slot'],
  ['trigger_event', 'id'],
  ['task_meta', 'id'],
  ['execution_log', 'id'],
  ['execution_event', 'execution_id, at, generation, seq, kind'],
  ['run_request', 'task_id, run_key'],
  ['hook_delivery', 'execution_id'],
  ['api_token', 'name'],
  ['api_token', 'hash'],
  ['ax_state', 'name'],
  ['calendar', 'name'],
  ['calendar_version', 'name, version'],
] as const;

/** Indexes by name, with the columns that they begin with: statements name them, and fail or read whole tables without them. */
const INDEXES = {
  task_meta_due: 'enabled, next_trigger_time',
  task_meta_calendar: 'calendar, id',
  task_meta_demand: 'enabled, pool, executor_type',
  trigger_event_task: 'task_id, id',
  execution_log_status: 'status, id',
  execution_log_task: 'task_id, status, id',
  hook_delivery_due: 'due_at',
  audit_log_subject: 'subject, id',
} as const;

interface Index {
  readonly table: string;
  readonly isUnique: boolean;
  readonly columns: string[];
}

/** The tables, as far as ax's guarantees and its speed stand on them. */
export class SchemaExamination implements Examination {
  readonly part = 'schema';

  constructor(private readonly db: SqlDb) {}

  async examine(): Promise<Diagnosis[]> {
    const missing = await pendingMigrations(this.db);
    const indexes = await this.readIndexes();
    return [
      missing.length === 0
        ? ok('migrations', 'all applied')
        : problem('migrations', `not applied: ${named(missing)}`, 'run `ax migrate` with this version of ax'),
      uniqueKeys([...indexes.values()]),
      namedIndexes(indexes),
    ];
  }

  private async readIndexes(): Promise<ReadonlyMap<string, Index>> {
    const rows = await this.db.read((sql) =>
      sql.rows<{ tbl: string; idx: string; is_unique: number; col: string }>(this.db.dialect.listIndexes),
    );
    const indexes = new Map<string, Index>();
    for (const { tbl, idx, is_unique, col } of rows) {
      // Every table of MySQL may have a PRIMARY.
      const key = idx === 'PRIMARY' ? `${tbl} PRIMARY` : idx;
      const index = indexes.get(key) ?? { table: tbl, isUnique: is_unique === 1, columns: [] };
      index.columns.push(col);
      indexes.set(key, index);
    }
    return indexes;
  }
}

function uniqueKeys(indexes: readonly Index[]): Diagnosis {
  const lost = UNIQUE_KEYS.filter(
    ([table, columns]) =>
      !indexes.some(
        (index) => index.isUnique && index.table === table && index.columns.join(', ') === columns,
      ),
  ).map(([table, columns]) => `${table} (${columns})`);
  if (lost.length === 0) return ok('unique_keys', 'all there');
  return problem(
    'unique_keys',
    `not unique any more: ${named(lost)}; a slot may fire twice and nobody would know`,
    'stop ax, remove duplicates (`ax verify` names them), and add the key again as a fresh `ax migrate` makes it',
  );
}

function namedIndexes(indexes: ReadonlyMap<string, Index>): Diagnosis {
  const lost = Object.entries(INDEXES)
    .filter(([name, columns]) => indexes.get(name)?.columns.join(', ').startsWith(columns) !== true)
    .map(([name, columns]) => `${name} (${columns})`);
  if (lost.length === 0) return ok('indexes', 'all there');
  return problem('indexes', `missing: ${named(lost)}`, 'add them again as a fresh `ax migrate` makes them');
}
