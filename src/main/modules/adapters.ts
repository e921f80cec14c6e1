import { ContainerModule } from 'inversify';
import { OfflineCalendarSource } from '../../adapters/calendars/offline-calendar-source.js';
import { type InProcessBroker } from '../../adapters/embedded/in-process-broker.js';
import { InProcessLock } from '../../adapters/embedded/in-process-lock.js';
import { InProcessWakeup } from '../../adapters/embedded/in-process-wakeup.js';
import { InProcessNodeRegistry } from '../../adapters/embedded/in-process-node-registry.js';
import { InProcessWorkerRegistry } from '../../adapters/embedded/in-process-worker-registry.js';
import { RedisClaims } from '../../adapters/redis/redis-claims.js';
import { type RedisConnection } from '../../adapters/redis/redis-connection.js';
import { RedisExamination } from '../../adapters/redis/redis-examination.js';
import { RedisLastOutcomes } from '../../adapters/redis/redis-last-outcomes.js';
import { RedisLock } from '../../adapters/redis/redis-lock.js';
import { RedisNodeRegistry } from '../../adapters/redis/redis-node-registry.js';
import { RedisQueue } from '../../adapters/redis/redis-queue.js';
import { RedisReceipts } from '../../adapters/redis/redis-receipts.js';
import { RedisResults } from '../../adapters/redis/redis-results.js';
import { RedisStops } from '../../adapters/redis/redis-stops.js';
import { RedisWakeup } from '../../adapters/redis/redis-wakeup.js';
import { RedisWorkerRegistry } from '../../adapters/redis/redis-worker-registry.js';
import { SchemaExamination } from '../../adapters/sql/schema-examination.js';
import { SqlAuditLog } from '../../adapters/sql/sql-audit-log.js';
import { SqlCalendarRepo } from '../../adapters/sql/sql-calendar-repo.js';
import { type SqlDb } from '../../adapters/sql/sql-db.js';
import { SqlDurationRepo } from '../../adapters/sql/sql-duration-repo.js';
import { SqlExecutionRepo } from '../../adapters/sql/sql-execution-repo.js';
import { SqlHistoryRepo } from '../../adapters/sql/sql-history-repo.js';
import { SqlHookRepo } from '../../adapters/sql/sql-hook-repo.js';
import { SqlLoadRepo } from '../../adapters/sql/sql-load-repo.js';
import { SqlTaskRepo } from '../../adapters/sql/sql-task-repo.js';
import { SqlTokenRepo } from '../../adapters/sql/sql-token-repo.js';
import { SqlTriggerRepo } from '../../adapters/sql/sql-trigger-repo.js';
import { Sha256TokenHash } from '../../adapters/system/sha256-token-hash.js';
import { type SystemRandom } from '../../adapters/system/system-random.js';
import { UuidIds } from '../../adapters/system/uuid-ids.js';
import { type PinoLogger } from '../../adapters/telemetry/pino-logger.js';
import { type PrometheusMetrics } from '../../adapters/telemetry/prometheus-metrics.js';
import { W3cTracer } from '../../adapters/telemetry/w3c-tracer.js';
import { type Clock } from '../../ports/clock.js';
import { type Examination } from '../../ports/examination.js';
import { type Executor } from '../../ports/executor.js';
import { type Tracer } from '../../ports/tracer.js';
import { TOKENS as T } from '../tokens.js';

export const systemModule = (clock: Clock, random: SystemRandom, machine: Clock = clock) =>
  new ContainerModule(({ bind }) => {
    bind(T.clock).toConstantValue(clock);
    bind(T.machine).toConstantValue(machine);
    bind(T.random).toConstantValue(random);
    bind(T.ids).toResolvedValue(() => new UuidIds(clock));
    bind(T.tokenHash).toResolvedValue(() => new Sha256TokenHash());
    bind(T.calendarSource).toResolvedValue(() => new OfflineCalendarSource(clock));
  });

/** Trace contexts are made in any case; spans are told of to `tracer`, if there is one. */
export const telemetryModule = (
  logger: PinoLogger,
  metrics: PrometheusMetrics,
  tracer: Tracer = new W3cTracer(),
) =>
  new ContainerModule(({ bind }) => {
    bind(T.logger).toConstantValue(logger);
    bind(T.metrics).toConstantValue(metrics);
    bind(T.tracer).toConstantValue(tracer);
  });

export const executorsModule = (executors: readonly Executor[]) =>
  new ContainerModule(({ bind }) => {
    bind(T.executors).toConstantValue(new Map(executors.map((executor) => [executor.type, executor])));
  });

/** Lock, queue and wake-ups of a cluster. */
export const redisModule = (connection: RedisConnection) =>
  new ContainerModule(({ bind }) => {
    bind(T.brokerExaminations).toResolvedValue(() => [new RedisExamination(connection)]);
    bind(T.lock).toResolvedValue(() => new RedisLock(connection));
    bind(T.queue).toResolvedValue(() => new RedisQueue(connection));
    bind(T.claims).toResolvedValue(() => new RedisClaims(connection));
    bind(T.stops).toResolvedValue(() => new RedisStops(connection));
    bind(T.results).toResolvedValue(() => new RedisResults(connection));
    bind(T.receipts).toResolvedValue(() => new RedisReceipts(connection));
    bind(T.lastOutcomes).toResolvedValue(() => new RedisLastOutcomes(connection));
    bind(T.wakeup).toResolvedValue(() => new RedisWakeup(connection));
    bind(T.workerRegistry).toResolvedValue(() => new RedisWorkerRegistry(connection));
    bind(T.nodeRegistry).toResolvedValue(() => new RedisNodeRegistry(connection));
  });

/** Lock, queue and wake-ups of embedded mode. */
export const inProcessModule = (broker: InProcessBroker) =>
  new ContainerModule(({ bind }) => {
    bind(T.brokerExaminations).toConstantValue([]);
    bind(T.lock).toResolvedValue((clock) => new InProcessLock(clock), [T.clock]);
    bind(T.queue).toConstantValue(broker.queue);
    bind(T.claims).toConstantValue(broker.claims);
    bind(T.stops).toConstantValue(broker.stops);
    bind(T.results).toConstantValue(broker.results);
    bind(T.receipts).toConstantValue(broker.receipts);
    bind(T.lastOutcomes).toConstantValue(broker.lastOutcomes);
    bind(T.wakeup).toResolvedValue(() => new InProcessWakeup());
    bind(T.workerRegistry).toResolvedValue((clock) => new InProcessWorkerRegistry(clock), [T.clock]);
    bind(T.nodeRegistry).toResolvedValue((clock) => new InProcessNodeRegistry(clock), [T.clock]);
  });

/** The stores, on MySQL or SQLite. `server`: what can be looked at besides the tables. */
export const storeModule = (db: SqlDb, server: readonly Examination[] = []) =>
  new ContainerModule(({ bind }) => {
    bind(T.storeExaminations).toResolvedValue(() => [...server, new SchemaExamination(db)]);
    bind(T.tasks).toResolvedValue(() => new SqlTaskRepo(db));
    bind(T.triggers).toResolvedValue(() => new SqlTriggerRepo(db));
    bind(T.executions).toResolvedValue(() => new SqlExecutionRepo(db));
    bind(T.durations).toResolvedValue(() => new SqlDurationRepo(db));
    bind(T.loads).toResolvedValue(() => new SqlLoadRepo(db));
    bind(T.history).toResolvedValue(() => new SqlHistoryRepo(db));
    bind(T.hooks).toResolvedValue(() => new SqlHookRepo(db));
    bind(T.calendars).toResolvedValue(() => new SqlCalendarRepo(db));
    bind(T.audit).toResolvedValue(() => new SqlAuditLog(db));
    bind(T.tokens).toResolvedValue(() => new SqlTokenRepo(db));
  });
