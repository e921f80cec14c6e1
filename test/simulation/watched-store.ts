import { FastSqlite } from './fast-sqlite.js';
import { type VirtualTime } from './virtual-time.js';

const ENDS = `('success', 'fail', 'timeout', 'skipped')`;

/** Tables of the simulation itself, which SQLite fills at the very moment of each change, by true time. */
const WATCH = [
  'CREATE TABLE sim_recorded (id TEXT, at INTEGER)',
  'CREATE TABLE sim_revived (id TEXT, text TEXT)',
  `CREATE TRIGGER sim_event AFTER INSERT ON trigger_event
     BEGIN INSERT INTO sim_recorded VALUES (NEW.id, sim_now()); END`,
  `CREATE TRIGGER sim_revival AFTER UPDATE ON execution_log WHEN OLD.status IN ${ENDS} AND NEW.status <> OLD.status
     BEGIN INSERT INTO sim_revived VALUES (NEW.id, OLD.status || ' became ' || NEW.status); END`,
];

/** An event as it is stored, and what became of it. Instants are epoch ms. */
export interface StoredEvent {
  readonly id: string;
  readonly taskId: string;
  readonly kind: 'schedule' | 'manual';
  readonly slot: number;
  readonly rangeEnd: number | null;
  readonly windowStart: number;
  readonly windowEnd: number;
  readonly firedAt: number;
  readonly isMisfire: number;
  readonly node: string;
  /** True time of the transaction. */
  readonly recordedAt: number;
  readonly status: string;
  readonly reason: string | null;
  readonly worker: string | null;
  readonly generation: number;
  readonly attempt: number;
}

export interface AuditRow {
  readonly at: number;
  readonly action: string;
  readonly subject: string;
  readonly after_json: string;
}

/** The store of one simulated cluster, and what only the checker reads of it. */
export class WatchedStore {
  readonly sqlite: FastSqlite;

  constructor(schema: readonly string[], time: VirtualTime) {
    this.sqlite = new FastSqlite(schema, time);
    this.sqlite.raw.function('sim_now', () => time.now());
    for (const statement of WATCH) this.sqlite.raw.exec(statement);
  }

  events(): StoredEvent[] {
    return this.sqlite.rows(`SELECT e.id, e.task_id AS taskId, e.kind, e.slot, e.range_end AS rangeEnd,
        e.window_start AS windowStart, e.window_end AS windowEnd, e.fired_at AS firedAt, e.is_misfire AS isMisfire, e.node,
        r.at AS recordedAt, COALESCE(x.status, 'pending') AS status, x.reason, x.worker,
        COALESCE(x.generation, 0) AS generation, COALESCE(x.attempt, 0) AS attempt
      FROM trigger_event e JOIN sim_recorded r ON r.id = e.id LEFT JOIN execution_log x ON x.id = e.id ORDER BY r.at, e.id`);
  }

  audit(): AuditRow[] {
    return this.sqlite.rows('SELECT at, action, subject, after_json FROM audit_log ORDER BY id');
  }

  /** Terminal states that changed. */
  revived(): { readonly id: string; readonly text: string }[] {
    return this.sqlite.rows('SELECT id, text FROM sim_revived');
  }
}
