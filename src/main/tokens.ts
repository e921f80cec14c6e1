import { type ServiceIdentifier } from 'inversify';
import { type AnnounceNode } from '../application/announce-node.js';
import { type Authenticate } from '../application/authenticate.js';
import { type CollectResults } from '../application/coordinator/collect-results.js';
import { type DeliverHooks } from '../application/coordinator/deliver-hooks.js';
import { type Leadership } from '../application/coordinator/leadership.js';
import { type MeasureLoad } from '../application/coordinator/measure-load.js';
import { type RecoverExecutions } from '../application/coordinator/recover-executions.js';
import { type ScheduleLoop } from '../application/coordinator/schedule-loop.js';
import { type Tick } from '../application/coordinator/tick.js';
import { type WatchCalendars } from '../application/coordinator/watch-calendars.js';
import { type WatchPools } from '../application/coordinator/watch-pools.js';
import { type Readiness } from '../application/readiness.js';
import { type UseCases } from '../application/use-cases.js';
import { type AnnounceWorker } from '../application/worker/announce-worker.js';
import { type Heartbeats } from '../application/worker/heartbeats.js';
import { type ReceiptDesk } from '../application/worker/receipt-desk.js';
import { type RunExecution } from '../application/worker/run-execution.js';
import { type WorkerLoop } from '../application/worker/worker-loop.js';
import { type AuditLog } from '../ports/audit.js';
import { type CalendarRepo } from '../ports/calendar-repo.js';
import { type CalendarSource } from '../ports/calendar-source.js';
import { type Claims } from '../ports/claims.js';
import { type Clock } from '../ports/clock.js';
import { type DurationRepo } from '../ports/duration-repo.js';
import { type Examination } from '../ports/examination.js';
import { type ExecutionRepo } from '../ports/execution-repo.js';
import { type Executor } from '../ports/executor.js';
import { type HistoryRepo } from '../ports/history-repo.js';
import { type HookRepo } from '../ports/hook-repo.js';
import { type Ids } from '../ports/ids.js';
import { type LastOutcomes } from '../ports/last-outcomes.js';
import { type LoadRepo } from '../ports/load-repo.js';
import { type Lock } from '../ports/lock.js';
import { type Logger } from '../ports/logger.js';
import { type Metrics } from '../ports/metrics.js';
import { type NodeRegistry } from '../ports/node-registry.js';
import { type Queue } from '../ports/queue.js';
import { type Random } from '../ports/random.js';
import { type Receipts } from '../ports/receipts.js';
import { type Results } from '../ports/results.js';
import { type Stops } from '../ports/stops.js';
import { type TaskRepo } from '../ports/task-repo.js';
import { type TokenHash } from '../ports/token-hash.js';
import { type TokenRepo } from '../ports/token-repo.js';
import { type Tracer } from '../ports/tracer.js';
import { type TriggerRepo } from '../ports/trigger-repo.js';
import { type Wakeup } from '../ports/wakeup.js';
import { type WorkerRegistry } from '../ports/worker-registry.js';
import { type Config } from './config.js';

const token = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

/** Identifies this process in this life: two processes never share it, nor does a restarted one. */
export interface Identity {
  readonly node: string;
  readonly instance: string;
  /** Of this ax. */
  readonly version: string;
}

/** Everything that is bound, by what it is asked as. */
export const TOKENS = {
  config: token<Config>('Config'),
  identity: token<Identity>('Identity'),
  clock: token<Clock>('Clock'),
  /** The machine's own; the clock itself where there is no reference. */
  machine: token<Clock>('Machine'),
  ids: token<Ids>('Ids'),
  random: token<Random>('Random'),
  tokenHash: token<TokenHash>('TokenHash'),
  logger: token<Logger>('Logger'),
  metrics: token<Metrics>('Metrics'),
  tracer: token<Tracer>('Tracer'),
  lock: token<Lock>('Lock'),
  queue: token<Queue>('Queue'),
  claims: token<Claims>('Claims'),
  stops: token<Stops>('Stops'),
  results: token<Results>('Results'),
  receipts: token<Receipts>('Receipts'),
  wakeup: token<Wakeup>('Wakeup'),
  workerRegistry: token<WorkerRegistry>('WorkerRegistry'),
  nodeRegistry: token<NodeRegistry>('NodeRegistry'),
  tasks: token<TaskRepo>('TaskRepo'),
  triggers: token<TriggerRepo>('TriggerRepo'),
  executions: token<ExecutionRepo>('ExecutionRepo'),
  history: token<HistoryRepo>('HistoryRepo'),
  lastOutcomes: token<LastOutcomes>('LastOutcomes'),
  durations: token<DurationRepo>('DurationRepo'),
  loads: token<LoadRepo>('LoadRepo'),
  hooks: token<HookRepo>('HookRepo'),
  calendars: token<CalendarRepo>('CalendarRepo'),
  calendarSource: token<CalendarSource>('CalendarSource'),
  audit: token<AuditLog>('AuditLog'),
  tokens: token<TokenRepo>('TokenRepo'),
  storeExaminations: token<readonly Examination[]>('StoreExaminations'),
  brokerExaminations: token<readonly Examination[]>('BrokerExaminations'),
  executors: token<ReadonlyMap<string, Executor>>('Executors'),
  readiness: token<Readiness>('Readiness'),
  useCases: token<UseCases>('UseCases'),
  authenticate: token<Authenticate>('Authenticate'),
  announceNode: token<AnnounceNode>('AnnounceNode'),
  leadership: token<Leadership>('Leadership'),
  tick: token<Tick>('Tick'),
  scheduleLoop: token<ScheduleLoop>('ScheduleLoop'),
  collectResults: token<CollectResults>('CollectResults'),
  recoverExecutions: token<RecoverExecutions>('RecoverExecutions'),
  measureLoad: token<MeasureLoad>('MeasureLoad'),
  watchPools: token<WatchPools>('WatchPools'),
  watchCalendars: token<WatchCalendars>('WatchCalendars'),
  deliverHooks: token<DeliverHooks>('DeliverHooks'),
  heartbeats: token<Heartbeats>('Heartbeats'),
  receiptDesk: token<ReceiptDesk>('ReceiptDesk'),
  runExecution: token<RunExecution>('RunExecution'),
  workerLoop: token<WorkerLoop>('WorkerLoop'),
  announceWorker: token<AnnounceWorker>('AnnounceWorker'),
} as const;
