import { type Json } from '../../domain/json.js';
import { type TriggerEvent, type TriggerKind } from '../../domain/trigger.js';
import { type Dialect, type SqlValue } from './dialect.js';
import { cut, LENGTHS } from './stored-text.js';

export const EVENT_COLUMNS = [
  'id',
  'task_id',
  'kind',
  'slot',
  'window_start',
  'window_end',
  'fired_at',
  'node',
  'is_misfire',
  'range_end',
  'traceparent',
  'params_json',
  'queue_epoch',
] as const;

export interface EventRow {
  readonly id: string;
  readonly task_id: string;
  readonly kind: TriggerKind;
  readonly slot: number;
  readonly window_start: number;
  readonly window_end: number;
  readonly fired_at: number;
  readonly node: string;
  readonly is_misfire: number;
  readonly range_end: number | null;
  readonly traceparent: string;
  readonly params_json: string | null;
  readonly queue_epoch: string;
}

/** Values in the order of EVENT_COLUMNS. */
export const eventRow = (event: TriggerEvent, dialect: Dialect): SqlValue[] => [
  event.id,
  event.taskId,
  event.kind,
  dialect.instant(event.slot),
  dialect.instant(event.windowStart),
  dialect.instant(event.windowEnd),
  dialect.instant(event.firedAt),
  cut(event.node, LENGTHS.node),
  Number(event.isMisfire),
  dialect.instant(event.rangeEnd),
  event.traceparent,
  event.params === undefined ? null : JSON.stringify(event.params),
  event.queueEpoch,
];

export const eventOf = (row: EventRow): TriggerEvent => ({
  id: row.id,
  taskId: row.task_id,
  kind: row.kind,
  slot: row.slot,
  windowStart: row.window_start,
  windowEnd: row.window_end,
  firedAt: row.fired_at,
  node: row.node,
  isMisfire: row.is_misfire === 1,
  rangeEnd: row.range_end,
  traceparent: row.traceparent,
  ...(row.params_json === null ? {} : { params: JSON.parse(row.params_json) as Exclude<Json, null> }),
  queueEpoch: row.queue_epoch,
});
