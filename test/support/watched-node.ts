import { type Container, ContainerModule } from 'inversify';
import { HttpExecutor } from '../../src/adapters/executors/http-executor.js';
import { RedisClaims } from '../../src/adapters/redis/redis-claims.js';
import { type RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { RedisLock } from '../../src/adapters/redis/redis-lock.js';
import { RedisQueue } from '../../src/adapters/redis/redis-queue.js';
import { RedisResults } from '../../src/adapters/redis/redis-results.js';
import { RedisWakeup } from '../../src/adapters/redis/redis-wakeup.js';
import { SqlAuditLog } from '../../src/adapters/sql/sql-audit-log.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SqlExecutionRepo } from '../../src/adapters/sql/sql-execution-repo.js';
import { SqlTaskRepo } from '../../src/adapters/sql/sql-task-repo.js';
import { SqlTokenRepo } from '../../src/adapters/sql/sql-token-repo.js';
import { SqlTriggerRepo } from '../../src/adapters/sql/sql-trigger-repo.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { PrometheusMetrics } from '../../src/adapters/telemetry/prometheus-metrics.js';
import { createLogger } from '../../src/adapters/telemetry/pino-logger.js';
import { type Config } from '../../src/main/config.js';
import { createContainer } from '../../src/main/container.js';
import { systemModule, telemetryModule } from '../../src/main/modules/adapters.js';
import { TOKENS as T } from '../../src/main/tokens.js';
import { type Clock } from '../../src/ports/clock.js';
import { type Queue } from '../../src/ports/queue.js';
import { type Journal } from './journal.js';

/** A node as `ax serve` wires it in a cluster, with a journal between its use cases and its adapters. Nothing runs yet. */
export function watchedNode(parts: {
  readonly config: Config;
  readonly clock: Clock;
  readonly db: SqlDb;
  readonly redis: RedisConnection;
  readonly journal: Journal;
  /** Called with each batch before it is published. */
  readonly onPublish: (...args: Parameters<Queue['publish']>) => Promise<void>;
}): Container {
  const { config, clock, db, redis, journal, onPublish } = parts;
  const queue = new RedisQueue(redis);
  const publish = queue.publish.bind(queue);
  queue.publish = async (messages) => {
    await onPublish(messages);
    return publish(messages);
  };
  const triggers = new SqlTriggerRepo(db);
  const decideDue = triggers.decideDue.bind(triggers);
  triggers.decideDue = (request, decide) =>
    decideDue(request, (due) => {
      journal.note('decide', due);
      return decide(due);
    });
  const executor = journal.watch('executor', new HttpExecutor({ clock, version: '0.0.0' }));
  const adapters = new ContainerModule(({ bind }) => {
    bind(T.lock).toConstantValue(journal.watch('lock', new RedisLock(redis), ['acquire']));
    bind(T.queue).toConstantValue(journal.watch('queue', queue, ['depth']));
    bind(T.claims).toConstantValue(journal.watch('claims', new RedisClaims(redis)));
    bind(T.results).toConstantValue(journal.watch('results', new RedisResults(redis)));
    bind(T.wakeup).toConstantValue(new RedisWakeup(redis));
    bind(T.executors).toConstantValue(new Map([['http', executor]]));
    bind(T.tasks).toConstantValue(new SqlTaskRepo(db));
    bind(T.triggers).toConstantValue(journal.watch('triggers', triggers));
    bind(T.executions).toConstantValue(journal.watch('executions', new SqlExecutionRepo(db)));
    bind(T.audit).toConstantValue(new SqlAuditLog(db));
    bind(T.tokens).toConstantValue(new SqlTokenRepo(db));
  });
  const logger = createLogger({ level: 'error', isPretty: false, node: 'node-1' });
  return createContainer(config, { node: 'node-1', instance: 'node-1/1' }, [
    systemModule(clock, new SystemRandom()),
    telemetryModule(logger, new PrometheusMetrics()),
    adapters,
  ]);
}
