import { type ColumnTypes, type TableDefinition } from '../dialect.js';
import { LENGTHS } from '../stored-text.js';
import { type Migration } from './migration.js';

/** Everything that ax needs to trigger, to record and to answer for it. */
export const firstTables: Migration = {
  name: '0001_first_tables',
  async up(sql) {
    const { types } = sql.dialect;
    const tables = [
      taskMeta(types),
      triggerEvent(types),
      executionLog(types),
      executionEvent(types),
      ...smallTables(types),
    ];
    for (const table of tables) {
      for (const statement of sql.dialect.createTable(table)) await sql.run(statement);
    }
  },
};

const taskMeta = (t: ColumnTypes): TableDefinition => ({
  name: 'task_meta',
  members: [
    `id ${t.word(64)} NOT NULL PRIMARY KEY`,
    `name ${t.text(128)} NOT NULL`,
    `group_name ${t.text(64)} NOT NULL`,
    `schedule_type ${t.word(16)} NOT NULL`,
    `cron_expr ${t.text(1024)} NULL`,
    `timezone ${t.text(64)} NULL`,
    `interval_sec ${t.int} NULL`,
    `run_at ${t.instant} NULL`,
    `start_at ${t.instant} NULL`,
    `end_at ${t.instant} NULL`,
    `executor_json ${t.longText} NOT NULL`,
    `params_json ${t.longText} NOT NULL`,
    `timeout_sec ${t.int} NOT NULL`,
    `retry_count ${t.int} NOT NULL`,
    `retry_interval_sec ${t.int} NOT NULL`,
    `retry_strategy ${t.word(16)} NOT NULL`,
    `retry_max_interval_sec ${t.int} NOT NULL`,
    `retry_jitter ${t.flag} NOT NULL`,
    `max_concurrent ${t.int} NOT NULL`,
    `overlap_policy ${t.word(16)} NOT NULL`,
    `misfire_policy ${t.word(16)} NOT NULL`,
    `misfire_limit ${t.int} NOT NULL`,
    `misfire_max_age_sec ${t.int} NOT NULL`,
    `window_sec ${t.int} NOT NULL`,
    `idempotent ${t.flag} NOT NULL`,
    `pool ${t.word(64)} NOT NULL`,
    `labels_json ${t.longText} NOT NULL`,
    `owner ${t.text(64)} NULL`,
    `enabled ${t.flag} NOT NULL`,
    `next_trigger_time ${t.instant} NULL`,
    `hold_until ${t.instant} NULL`,
    `error ${t.text(LENGTHS.error)} NULL`,
    `version ${t.int} NOT NULL`,
    `created_at ${t.instant} NOT NULL`,
    `updated_at ${t.instant} NOT NULL`,
  ],
  indexes: { task_meta_due: 'enabled, next_trigger_time' },
});

/** Immutable. Ids are ordered by time, so new rows go to the end, and the newest come first by id. */
const triggerEvent = (t: ColumnTypes): TableDefinition => ({
  name: 'trigger_event',
  members: [
    `id ${t.uuid} NOT NULL PRIMARY KEY`,
    `task_id ${t.word(64)} NOT NULL`,
    `kind ${t.word(16)} NOT NULL`,
    `slot ${t.instant} NOT NULL`,
    `window_start ${t.instant} NOT NULL`,
    `window_end ${t.instant} NOT NULL`,
    `fired_at ${t.instant} NOT NULL`,
    `node ${t.text(LENGTHS.node)} NOT NULL`,
    `is_misfire ${t.flag} NOT NULL`,
    `range_end ${t.instant} NULL`,
    `traceparent ${t.word(128)} NOT NULL`,
    `params_json ${t.longText} NULL`,
    `queue_epoch ${t.text(128)} NOT NULL`,
    'CONSTRAINT trigger_event_slot UNIQUE (task_id, kind, slot)',
  ],
  indexes: { trigger_event_task: 'task_id, id' },
});

/** What became of an event; no row: nothing was reported yet. `progress` says which report a row holds. */
const executionLog = (t: ColumnTypes): TableDefinition => ({
  name: 'execution_log',
  members: [
    `id ${t.uuid} NOT NULL PRIMARY KEY`,
    `task_id ${t.word(64)} NOT NULL`,
    `status ${t.word(16)} NOT NULL`,
    `reason ${t.word(LENGTHS.reason)} NULL`,
    `message ${t.text(LENGTHS.message)} NULL`,
    `worker ${t.text(LENGTHS.node)} NULL`,
    `generation ${t.int} NOT NULL`,
    `attempt ${t.int} NOT NULL`,
    `started_at ${t.instant} NULL`,
    `finished_at ${t.instant} NULL`,
    `evidence_json ${t.longText} NOT NULL`,
    `progress ${t.bigint} NOT NULL`,
    `updated_at ${t.instant} NOT NULL`,
  ],
  indexes: { execution_log_status: 'status, id', execution_log_task: 'task_id, status, id' },
});

/** The ledger. Its key is what makes two deliveries of one entry the same, and keeps an execution's entries side by side. */
const executionEvent = (t: ColumnTypes): TableDefinition => ({
  name: 'execution_event',
  members: [
    `execution_id ${t.uuid} NOT NULL`,
    `at ${t.instant} NOT NULL`,
    `generation ${t.int} NOT NULL`,
    `seq ${t.int} NOT NULL`,
    `kind ${t.word(LENGTHS.ledgerKind)} NOT NULL`,
    `node ${t.text(LENGTHS.node)} NOT NULL`,
    `detail_json ${t.longText} NOT NULL`,
    'PRIMARY KEY (execution_id, at, generation, seq, kind)',
  ],
});

const smallTables = (t: ColumnTypes): TableDefinition[] => [
  {
    name: 'audit_log',
    members: [
      `id ${t.serial}`,
      `at ${t.instant} NOT NULL`,
      `actor ${t.text(255)} NOT NULL`,
      `action ${t.word(64)} NOT NULL`,
      `subject ${t.text(255)} NOT NULL`,
      `before_json ${t.longText} NOT NULL`,
      `after_json ${t.longText} NOT NULL`,
    ],
    indexes: { audit_log_subject: 'subject, id' },
  },
  {
    name: 'api_token',
    members: [
      `name ${t.text(128)} NOT NULL PRIMARY KEY`,
      `hash ${t.word(64)} NOT NULL`,
      `created_at ${t.instant} NOT NULL`,
      'CONSTRAINT api_token_hash UNIQUE (hash)',
    ],
  },
  {
    // `run_key` is the SHA-256 of the caller's Idempotency-Key.
    name: 'run_request',
    members: [
      `task_id ${t.word(64)} NOT NULL`,
      `run_key ${t.word(64)} NOT NULL`,
      `event_id ${t.uuid} NOT NULL`,
      'PRIMARY KEY (task_id, run_key)',
    ],
  },
  {
    name: 'ax_state',
    members: [`name ${t.word(64)} NOT NULL PRIMARY KEY`, `value ${t.text(255)} NOT NULL`],
  },
];
