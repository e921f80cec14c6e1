import {
  type ExecutionReport,
  type LedgerEntry,
  type OwedSummary,
  STATUSES,
} from '../../domain/execution.js';
import { isExecutorType, restoreExecutor } from '../../domain/executor-spec.js';
import { type Hooks, NO_HOOKS, restoreHooks } from '../../domain/hooks.js';
import { DEFAULT_POLICY, type Policy } from '../../domain/policy.js';
import { type TriggerEvent } from '../../domain/trigger.js';
import { type QueueMessage, type TaskSnapshot } from '../../ports/queue.js';
import { type NodeAnnouncement } from '../../ports/node-registry.js';
import { type WorkerAnnouncement } from '../../ports/worker-registry.js';

/**
 * Messages, reports and announcements as JSON. Decoding checks the type of every member, so that a hand-made or broken entry is refused here and
 * nothing behind has to doubt its types; unknown members are kept, since a newer node may have written them.
 */
type Check = (value: unknown) => boolean;
/** The members of T with what each must be, as pairs: they are walked for every message. */
type Shape = readonly (readonly [member: string, check: Check])[];
const shapeOf = <T>(members: { readonly [K in keyof Required<T>]: Check }): Shape =>
  Object.entries<Check>(members);

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const flag: Check = (value) => typeof value === 'boolean';
const anything: Check = (value) => value !== undefined;
const optional: Check = () => true;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
const typeOf =
  (example: unknown): Check =>
  (value) =>
    typeof value === typeof example;
const texts: Check = (value) => Array.isArray(value) && value.every(text);
const record: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const EVENT = shapeOf<TriggerEvent>({
  id: text,
  taskId: text,
  kind: oneOf('schedule', 'manual'),
  slot: number,
  windowStart: number,
  windowEnd: number,
  firedAt: number,
  node: text,
  isMisfire: flag,
  rangeEnd: orNull(number),
  traceparent: text,
  params: optional,
  queueEpoch: text,
});

const TASK = shapeOf<TaskSnapshot>({
  id: text,
  name: text,
  group: text,
  executor: (value) => record(value) && text((value as { type?: unknown }).type),
  params: anything,
  policy: record,
  hooks: optional,
  pool: text,
});

const MESSAGE = shapeOf<QueueMessage>({
  event: record,
  task: record,
  queueEpoch: text,
  generationFloor: number,
  publishedAt: number,
  traceparent: orAbsent(text),
  isRepublished: orAbsent(flag),
});

const REPORT = shapeOf<ExecutionReport>({
  executionId: text,
  taskId: text,
  generation: number,
  seq: number,
  status: oneOf(...STATUSES),
  reason: orNull(text),
  message: orNull(text),
  worker: orNull(text),
  attempt: number,
  startedAt: orNull(number),
  finishedAt: orNull(number),
  evidence: record,
  entry: record,
  traceparent: orAbsent(text),
  owed: optional,
});

const OWED = shapeOf<OwedSummary>({ hook: record, taskName: text, group: text });

const ENTRY = shapeOf<LedgerEntry>({ kind: text, at: number, node: text, detail: record });

const ANNOUNCEMENT = shapeOf<WorkerAnnouncement>({
  instance: text,
  node: text,
  pools: texts,
  executors: texts,
  concurrency: number,
  running: number,
  isDraining: flag,
  version: text,
  zoneData: orAbsent(text),
  startedAt: number,
  seenAt: number,
});

const NODE = shapeOf<NodeAnnouncement>({
  instance: text,
  node: text,
  role: text,
  version: text,
  zoneData: text,
  clockOffsetMs: orNull(number),
});

/** A member without a default is a number or null. */
const POLICY = Object.entries(DEFAULT_POLICY).map(
  ([name, value]) => [name as keyof Policy, value === null ? orNull(number) : typeOf(value)] as const,
);

export const encode = (
  value: QueueMessage | ExecutionReport | WorkerAnnouncement | NodeAnnouncement,
): string => JSON.stringify(value);

/** @throws Error that names the broken member. */
export function decodeMessage(json: string): QueueMessage {
  const message = checked<QueueMessage>('message', JSON.parse(json), MESSAGE);
  const event = checked<TriggerEvent>('event', message.event, EVENT);
  const task = checked<TaskSnapshot>('task', message.task, TASK);
  // A member that is younger than the message gets its default.
  const policy = { ...DEFAULT_POLICY, ...task.policy };
  for (const [name, check] of POLICY) {
    if (!check(policy[name])) throw refusal(`policy.${name}`);
  }
  if (event.taskId !== task.id) throw refusal('event.taskId');
  const executor = isExecutorType(task.executor.type) ? restoreExecutor({ ...task.executor }) : task.executor;
  if (executor === null) throw refusal('task.executor');
  const hooks = hooksOf(task.hooks);
  return { ...message, task: { ...task, executor, policy, hooks } };
}

/** Messages of older nodes have none. */
function hooksOf(stored: unknown): Hooks {
  const hooks = stored === undefined ? NO_HOOKS : restoreHooks(stored);
  if (hooks === null) throw refusal('task.hooks');
  return hooks;
}

/** @throws Error that names the broken member. */
export function decodeReport(json: string): ExecutionReport {
  const report = checked<ExecutionReport>('report', JSON.parse(json), REPORT);
  checked<LedgerEntry>('entry', report.entry, ENTRY);
  if (report.owed !== undefined) checked<OwedSummary>('owed', report.owed, OWED);
  return report;
}

/** @throws Error that names the broken member. */
export const decodeAnnouncement = (json: string): WorkerAnnouncement =>
  checked<WorkerAnnouncement>('worker', JSON.parse(json), ANNOUNCEMENT);

/** @throws Error that names the broken member. */
export const decodeNode = (json: string): NodeAnnouncement =>
  checked<NodeAnnouncement>('node', JSON.parse(json), NODE);

function checked<T>(name: string, value: unknown, shape: Shape): T {
  if (!record(value)) throw refusal(name);
  for (const [member, check] of shape) {
    if (!check((value as Record<string, unknown>)[member])) throw refusal(`${name}.${member}`);
  }
  return value as T;
}

const refusal = (member: string): Error => new Error(`"${member}" is missing or not of its type`);
